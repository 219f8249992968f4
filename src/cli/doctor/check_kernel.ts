import { findLibcPath } from "../../runtime/linux/libc.ts";
import { kernelRelease, tryKernelCalls } from "../../runtime/linux/kernel_support.ts";
import { type Finding, good, problem } from "./finding.ts";

/** Tries what Fluzo needs of the kernel. */
export function checkKernel(root: string): Finding[] {
  if (findLibcPath() === null) {
    return [problem(
      "kernel",
      "the C library cannot be opened: no file tools, no commands",
      "Needs glibc and the --allow-ffi of the install command; systems with musl are not supported",
    )];
  }
  const calls = tryKernelCalls(root);
  const system = `Linux ${kernelRelease() ?? "of unknown release"}`;
  const failed = calls.filter((call) => call.failure !== null);
  if (failed.length === 0) {
    return [good("kernel", `${system}: ${calls.map(({ name }) => name).join(", ")} work`)];
  }
  return failed.map((call) =>
    problem(
      "kernel",
      `${system}, ${call.purpose}: ${call.failure}`,
      `Needs Linux ${call.since} or later, and a container that lets ${call.name} through`,
    )
  );
}
