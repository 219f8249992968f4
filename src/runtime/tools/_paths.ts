/**
 * Models often write an absolute path, `./a` or a trailing slash. Only what is certain is put
 * right: the workspace root in front, a leading `./` and trailing slashes. Everything else goes to
 * the workspace worker as it is, which alone decides what a path resolves to.
 */
export function tidyPath(path: string, root: string): string {
  let tidy = path;
  if (tidy === root) return ".";
  if (root !== "/" && tidy.startsWith(`${root}/`)) tidy = tidy.slice(root.length + 1);
  tidy = tidy.replace(/^(?:\.\/+)+/, "").replace(/\/+$/, "");
  return tidy === "" ? (path.startsWith("/") ? "/" : ".") : tidy;
}
