import * as z from 'zod';
import { badQuery } from './cf-error.ts';

const MAX = 50;

const Label = z
  .string()
  .regex(
    /^(?:[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?)?$/u,
    'label value is not a label: letters, digits, -_. and 63 at most',
  );
const LabelKey = z.string().regex(/^[A-Za-z0-9](?:[\w./-]{0,253}[A-Za-z0-9])?$/u, 'label key is not a key');
const few = (values: object) => Object.keys(values).length <= MAX;

/** Selectors see labels, not annotations. */
export const Metadata = z
  .object({
    labels: z.record(LabelKey, Label).refine(few, 'too many labels').default({}),
    annotations: z.record(LabelKey, z.string().max(5000)).refine(few, 'too many annotations').default({}),
  })
  .default({ labels: {}, annotations: {} });
export type Metadata = z.output<typeof Metadata>;

export const NO_METADATA: Metadata = { labels: {}, annotations: {} };

/** In whole seconds, as the platform writes it. */
export function stamp(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}

type Labels = Readonly<Record<string, string>>;

/**
 * Cloud Foundry's v3 API, "Labels and selectors": requirements separated by commas that must all hold: `key`,
 * `!key`, `key=value`, `key==value`, `key!=value`, `key in (a,b)`, `key notin (a,b)`. Else throws 400.
 */
export function labelSelector(text: string): (labels: Labels) => boolean {
  const requirements = splitRequirements(text).map(requirementOf);
  return (labels) => requirements.every((holds) => holds(labels));
}

/** Commas inside parentheses belong to a set. */
function splitRequirements(text: string): string[] {
  return text.split(/,(?![^()]*\))/u).map((part) => part.trim());
}

const KEY = '[A-Za-z0-9](?:[\\w./-]{0,253}[A-Za-z0-9])?';
const EXISTS = new RegExp(`^(?<not>!?)(?<key>${KEY})$`, 'u');
const EQUALS = new RegExp(`^(?<key>${KEY}) *(?<not>!?)==? *(?<value>[\\w.-]{0,63})$`, 'u');
const SET = new RegExp(`^(?<key>${KEY}) +(?<not>not)?in *\\((?<values>[\\w., -]*)\\)$`, 'u');

function requirementOf(text: string): (labels: Labels) => boolean {
  const set = SET.exec(text)?.groups;
  if (set !== undefined) {
    const values = (set['values'] ?? '').split(',').map((value) => value.trim());
    const { key = '' } = set;
    return (labels) => values.includes(labels[key] ?? '\0') === (set['not'] === undefined);
  }
  const equals = EQUALS.exec(text)?.groups;
  if (equals !== undefined) {
    const { key = '', value } = equals;
    return (labels) => (labels[key] === value) === (equals['not'] === '');
  }
  const exists = EXISTS.exec(text)?.groups;
  if (exists !== undefined) {
    const { key = '' } = exists;
    return (labels) => Object.hasOwn(labels, key) === (exists['not'] === '');
  }
  throw badQuery('Invalid label_selector value');
}
