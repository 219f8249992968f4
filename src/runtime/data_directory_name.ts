/** Name of the data directory in a workspace root. */
export const DATA_DIRECTORY = ".fluzodrive";
