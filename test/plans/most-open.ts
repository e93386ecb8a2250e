/** What is told of an entry: which run it is of, and what it says. */
export interface Told {
  /** Its place in the log. */
  readonly index: number;
  readonly stream: string;
  readonly type: string;
  readonly body: unknown;
}

/** The most children of each group of a plan that were open at once, by entries in any order. */
export function mostOpen(entries: readonly Told[]): Readonly<Record<string, number>> {
  const inOrder = entries.toSorted((one, other) => one.index - other.index);
  const open = new Map<string, Set<string>>();
  const most: Record<string, number> = {};
  for (const { stream, type, body } of inOrder) {
    const { plan } = body as { readonly plan?: { readonly group: string } };
    if (type === 'run.started' && plan !== undefined) {
      const ofGroup = open.get(plan.group) ?? new Set();
      open.set(plan.group, ofGroup.add(stream));
      most[plan.group] = Math.max(most[plan.group] ?? 0, ofGroup.size);
    }
    if (type === 'run.closed') for (const ofGroup of open.values()) ofGroup.delete(stream);
  }
  return most;
}
