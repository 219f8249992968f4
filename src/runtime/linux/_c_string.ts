const encoder = new TextEncoder();

/**
 * A path or name as the C library wants it: its bytes and a closing NUL. Bytes pass through, so
 * names that are not UTF-8 stay nameable.
 *
 * @throws {TypeError} When the name holds a NUL, which would silently cut it.
 */
export function cString(name: string | Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = typeof name === "string" ? encoder.encode(name) : name;
  if (bytes.includes(0)) throw new TypeError("Cannot pass a name that holds a NUL byte");
  const terminated = new Uint8Array(bytes.length + 1);
  terminated.set(bytes);
  return terminated;
}
