/**
 * The environment for a program of the config, or for the platform's tool: that of this process, without
 * `hidden` (the variables that hold tokens) and without Lifeboat's own variables.
 */
export function childEnvironment(
  hidden: readonly string[],
  added: Readonly<Record<string, string>> = {},
  env: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  const shown = Object.entries(env).filter(
    ([name]) => !name.startsWith('LIFEBOAT_') && !hidden.includes(name),
  );
  return { ...Object.fromEntries(shown), ...added };
}
