/** Passes values on in the order of these names, each as soon as possible; keeps only those that wait. */
export function inOrder<Value>(
  names: readonly string[],
  pass: (value: Value) => void,
): (name: string, value: Value) => void {
  const early = new Map<string, Value>();
  let next = 0;
  return (name, value) => {
    early.set(name, value);
    for (let one = names[next]; one !== undefined && early.has(one); one = names[next]) {
      pass(early.get(one) as Value);
      early.delete(one);
      next += 1;
    }
  };
}
