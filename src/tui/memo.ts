/**
 * The same function, which computes anew only where an argument is not the one of the last call. Facts are
 * replaced and never changed, so what was sorted for a key is good for every frame until the next answer.
 */
export function memoised<Args extends readonly unknown[], Result>(
  compute: (...args: Args) => Result,
): (...args: Args) => Result {
  let last: { readonly args: Args; readonly result: Result } | undefined;
  return (...args) => {
    if (last === undefined || args.some((arg, at) => arg !== last?.args[at]))
      last = { args, result: compute(...args) };
    return last.result;
  };
}
