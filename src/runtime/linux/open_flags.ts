/** Flags of `open`, from the kernel's headers. Two of them differ between architectures. */
const ARM = Deno.build.arch === "aarch64";

export const O_RDONLY = 0;
export const O_WRONLY = 0o1;
export const O_CREAT = 0o100;
export const O_EXCL = 0o200;
export const O_NOCTTY = 0o400;
export const O_NONBLOCK = 0o4000;
export const O_DIRECTORY = ARM ? 0o40000 : 0o200000;
export const O_NOFOLLOW = ARM ? 0o100000 : 0o400000;
export const O_CLOEXEC = 0o2000000;
export const O_PATH = 0o10000000;
