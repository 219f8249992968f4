/**
 * Models often write `./a`, `/workspace/a` or a trailing slash. Only what is certain is put right:
 * a leading `./` and trailing slashes. Everything else goes to the workspace worker as it is.
 */
export function tidyPath(path: string): string {
  const tidy = path.replace(/^(?:\.\/+)+/, "").replace(/\/+$/, "");
  return tidy === "" ? (path.startsWith("/") ? "/" : ".") : tidy;
}
