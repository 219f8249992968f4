/**
 * Where a worker's module is: beside the module that starts it, under the same kind of name. In a
 * bundle everything lies in one folder and ends in `.js`.
 *
 * @param name File name without its ending; unique in the program.
 * @param from `import.meta.url` of the module that starts the worker.
 */
export function workerModule(name: string, from: string): URL {
  return new URL(`./${name}${from.endsWith(".js") ? ".js" : ".ts"}`, from);
}
