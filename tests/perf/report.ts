/** The rows of the report, in the order they were measured. */
export const rows: string[] = [];

/** Adds a row with the number of samples, the median and percentiles. */
export function report(what: string, samples: readonly number[]): void {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (share: number) =>
    show(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]);
  rows.push(
    `| ${what} | ${sorted.length} | ${show(median(sorted))} | ${at(0.95)} | ${at(0.99)} | ${
      show(sorted.at(-1))
    } |`,
  );
}

/** The middle of the samples. */
export function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

function show(value: number | undefined): string {
  if (value === undefined) return "";
  return value < 10 ? value.toFixed(2) : value.toFixed(0);
}
