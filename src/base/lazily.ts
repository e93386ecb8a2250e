/**
 * Gives what `make` gives, which is called when it is first asked for, and never again. For schemas of a
 * module that every command loads and few use: to build them takes longer than the rest of the module.
 */
export function lazily<Made>(make: () => Made): () => Made {
  let made: { readonly value: Made } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
