const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** A size in bytes for people: three digits with a unit. */
export function formatSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  for (; value >= 1000 && unit < UNITS.length - 1; unit++) value /= 1024;
  return `${unit === 0 ? value : value.toPrecision(3)} ${UNITS[unit]}`;
}
