/**
 * House rules that the type checker cannot see: hidden clocks and randomness in core, output that
 * does not go through the writers, and foreign functions outside their one folder.
 */

/** What core must get through a port instead. */
const HIDDEN_INPUTS: readonly (readonly [selector: string, what: string])[] = [
  ['MemberExpression[object.name="Date"][property.name="now"]', "Date.now"],
  ['NewExpression[callee.name="Date"]', "new Date"],
  ['MemberExpression[object.name="Math"][property.name="random"]', "Math.random"],
  ['Identifier[name="crypto"]', "crypto"],
  ['Identifier[name="performance"]', "performance"],
];

/** Classes whose first argument is a message for people. */
const BUILT_IN_ERRORS: ReadonlySet<string> = new Set(["Error", "TypeError", "RangeError"]);

const plugin: Deno.lint.Plugin = {
  name: "fluzo",
  rules: {
    "pure-core": {
      create(context) {
        if (!context.filename.includes("/src/core/")) return {};
        return Object.fromEntries(
          HIDDEN_INPUTS.map(([selector, what]) => [selector, (node: Deno.lint.Node) => {
            context.report({ node, message: `Core must not use ${what}: take it through a port` });
          }]),
        );
      },
    },
    "one-ffi": {
      create(context) {
        const { filename } = context;
        if (!filename.includes("/src/") || filename.includes("/src/runtime/linux/")) return {};
        return {
          'MemberExpression[object.name="Deno"][property.name="dlopen"]'(node: Deno.lint.Node) {
            context.report({ node, message: "Only src/runtime/linux opens libraries" });
          },
        };
      },
    },
    "one-writer": {
      create(context) {
        const { filename } = context;
        if (!filename.includes("/src/") || filename.endsWith("/src/cli/composition.ts")) return {};
        const report = (node: Deno.lint.Node): void => {
          context.report({
            node,
            message: "Only the composition root hands out standard output, to its writer",
          });
        };
        return {
          'MemberExpression[object.name="Deno"][property.name="stdout"]': report,
          'MemberExpression[object.name="Deno"][property.name="stderr"]': report,
          'Identifier[name="console"]': report,
        };
      },
    },
    "error-grammar": {
      create(context) {
        if (!context.filename.includes("/src/")) return {};
        return {
          NewExpression(node) {
            const { callee } = node;
            if (callee.type !== "Identifier" || !BUILT_IN_ERRORS.has(callee.name)) return;
            const [message] = node.arguments;
            if (message?.type !== "Literal" || typeof message.value !== "string") return;
            if (!/^[A-Z"]/.test(message.value) || message.value.endsWith(".")) {
              context.report({
                node,
                message: "An error message is a sentence with a capital letter and no period",
              });
            }
          },
        };
      },
    },
  },
};

export default plugin;
