import { LinuxError } from "./errno.ts";
import { exchange } from "./files.ts";
import { readKernelFile } from "./kernel_file.ts";
import { O_DIRECTORY, O_PATH } from "./open_flags.ts";
import { AT_FDCWD, openat2, RESOLVE_BENEATH, RESOLVE_NO_MAGICLINKS } from "./openat2.ts";
import { adoptOrphans, openProcess } from "./pidfd.ts";

/** A kernel call Fluzo rests on, and whether it works here. */
export interface KernelCall {
  readonly name: "openat2" | "renameat2" | "pidfd_open" | "subreaper";
  /** What Fluzo does with it. */
  readonly purpose: string;
  /** The first Linux that has it. */
  readonly since: string;
  /** Null when it works. */
  readonly failure: string | null;
}

/** A kernel's release is far shorter. */
const MAX_RELEASE_BYTES = 256;

/** The kernel's release, for example `6.18.5`; null where it does not tell. */
export function kernelRelease(): string | null {
  return readKernelFile("/proc/sys/kernel/osrelease", MAX_RELEASE_BYTES)?.trim() ?? null;
}

/**
 * Tries every kernel call Fluzo rests on: a version number says nothing about what a container lets
 * through. Changes nothing; whether a file system can exchange two files shows at the first edit.
 *
 * @param directory Absolute path of a folder that exists.
 */
export function tryKernelCalls(directory: string): readonly KernelCall[] {
  return [
    {
      name: "openat2",
      purpose: "keeping file tools inside the workspace",
      since: "5.6",
      failure: tried(() => openFolder(directory).close()),
    },
    {
      name: "renameat2",
      purpose: "changing a file in one step",
      since: "3.15",
      failure: tried(() => exchangeNothing(directory)),
    },
    {
      name: "pidfd_open",
      purpose: "ending exactly the processes of a command",
      since: "5.3",
      failure: tried(() => openProcess(Deno.pid)?.close()),
    },
    {
      name: "subreaper",
      purpose: "finding what a command left behind",
      since: "3.4",
      failure: tried(() => {
        adoptOrphans(true);
        adoptOrphans(false);
      }),
    },
  ];
}

function openFolder(directory: string): ReturnType<typeof openat2> {
  using outer = openat2(AT_FDCWD, directory, { flags: O_PATH | O_DIRECTORY, resolve: 0 });
  return openat2(outer, ".", {
    flags: O_PATH | O_DIRECTORY,
    resolve: RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
  });
}

/** Two names that nobody has: a kernel that knows the call says that they are absent. */
function exchangeNothing(path: string): void {
  using directory = openat2(AT_FDCWD, path, { flags: O_PATH | O_DIRECTORY, resolve: 0 });
  const absent = { directory, name: `.fluzo-${crypto.randomUUID()}` };
  try {
    exchange(absent, { directory, name: `.fluzo-${crypto.randomUUID()}` });
  } catch (failure) {
    if (failure instanceof LinuxError && failure.code === "ENOENT") return;
    throw failure;
  }
}

function tried(call: () => void): string | null {
  try {
    call();
    return null;
  } catch (failure) {
    if (failure instanceof LinuxError) return failure.message;
    throw failure;
  }
}
