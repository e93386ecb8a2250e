import { fieldsOf } from './fields.ts';
import type { Entry } from './journal.ts';

/** What earlier entries of a stream say of things that a later one only names. */
export interface SaidBefore {
  /** What a call of an intent or activity was given, and with which verb. */
  readonly calls: Map<string, Call>;
  /** The instances that it is about, as far as they are known: its own and its target. */
  instance?: string | undefined;
  target?: string | undefined;
  /** Those that are spoken to through an interface of an older kind, whose paths differ. */
  older: ReadonlySet<string>;
}

interface Call {
  readonly verb: string;
  readonly input: unknown;
}

/** What is known before the first entry of a stream; the stream of a ledger has the name of its instance. */
export function beginningOf(stream: string | undefined): SaidBefore {
  const [, instance] = /^instance\/(.+)$/u.exec(stream ?? '') ?? [];
  return { calls: new Map(), older: new Set(), instance };
}

/** Adds what an entry more says. Costs the same however long the stream is. */
export function note(said: SaidBefore, { type, body }: Pick<Entry, 'type' | 'body'>): void {
  const fields = fieldsOf(body);
  if (type === 'run.started') {
    const { instance, target, services } = fields;
    said.instance = textIn(instance) ?? said.instance;
    said.target = textIn(target) ?? said.target;
    const older = (Array.isArray(services) ? services : []).flatMap((one) => {
      const { instance: name, revision } = fieldsOf(one);
      return revision === 'v0' && typeof name === 'string' ? [name] : [];
    });
    said.older = new Set(older);
  }
  const { verb, input, activity, key } = fields;
  if (type !== 'activity.begun' || typeof verb !== 'string') return;
  for (const id of [activity, key]) if (typeof id === 'string') said.calls.set(id, { verb, input });
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Which instance a call goes to; undefined where that is not known. */
export function goesTo({ instance, target }: SaidBefore, input: unknown): string | undefined {
  return fieldsOf(input)['on'] === 'target' ? target : instance;
}
