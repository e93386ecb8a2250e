/**
 * Rows in order of a number that each has, a page at a time: `ask` gives those from a number on, at most
 * `most`, and `after` the number from which the next page begins. A page that is not full is the last.
 */
export async function* inPages<Row>(
  from: number,
  most: number,
  ask: (from: number) => Promise<readonly Row[]> | readonly Row[],
  after: (last: Row) => number,
): AsyncGenerator<Row> {
  for (let next = from; ; ) {
    const page = await ask(next);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < most) return;
    next = after(last);
  }
}
