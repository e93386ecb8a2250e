/**
 * Stands in for `react-devtools-core` in the bundle: Ink imports it statically, and nobody debugs a recovery with it.
 */
export default {
  initialize(): void {},
  connectToDevTools(): void {},
};
