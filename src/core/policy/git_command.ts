/**
 * Recognises `git commit` and `git push` in a command, so that they fall under their own policies.
 * This only ever makes a decision stricter: what it does not recognise is still a command that
 * needs its own exact grant.
 */
export function gitActionOf(argv: readonly string[]): "none" | "commit" | "push" {
  const words = argv.flatMap((word) => word.split(/[\s;&|()`"'<>$=]+/));
  let found: "none" | "commit" | "push" = "none";
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? "";
    if (word !== "git" && !word.endsWith("/git")) continue;
    for (const next of words.slice(i + 1)) {
      if (next === "push") return "push";
      if (next === "commit") found = "commit";
    }
  }
  return found;
}
