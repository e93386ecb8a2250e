/**
 * Calls `make` once, on first use. For schemas of modules that every command loads and few use: building them
 * takes longer than loading the rest.
 */
export function lazily<Made>(make: () => Made): () => Made {
  let made: { readonly value: Made } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
