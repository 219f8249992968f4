/** Tries what the workspace worker must not be able to do, and says whether it could. */
try {
  Deno.readTextFileSync("/etc/hostname");
  self.postMessage("read");
} catch (failure) {
  self.postMessage(failure instanceof Deno.errors.NotCapable ? "denied" : String(failure));
}
