import { badQuery } from './cf-error.ts';

export type Labels = Readonly<Record<string, string>>;

/**
 * The test that a `label_selector` stands for (Cloud Foundry's v3 API, "Labels and selectors"): requirements
 * separated by commas, all of which must hold: `key`, `!key`, `key=value`, `key==value`, `key!=value`, `key
 * in (a,b)`, `key notin (a,b)`. Throws 400 for anything else.
 */
export function labelSelector(text: string): (labels: Labels) => boolean {
  const requirements = splitRequirements(text).map(requirementOf);
  return (labels) => requirements.every((holds) => holds(labels));
}

/** Commas inside of parentheses belong to a set. */
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
