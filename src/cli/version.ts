import config from "../../deno.json" with { type: "json" };

/** The version of this Fluzo. */
export const VERSION: string = config.version;
