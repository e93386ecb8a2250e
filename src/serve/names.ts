/** What of a page is not shown, whatever text it stands in. */
export interface Hiding {
  /** The people whose names are replaced by numbers; empty where names are shown. In order of appearance. */
  readonly people: readonly string[];
}

/** Removes key fingerprints from every text, and masks people as numbers. Pure. */
export function presentable<Page>(page: Page, { people }: Hiding): Page {
  const replace = hider(people);
  return hidden(page, replace) as Page;
}

function hidden(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value);
  if (Array.isArray(value)) return value.map((one) => hidden(one, replace));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, hidden(one, replace)]));
}

/** No letter, digit or dash on either side: a part of a longer id or name is another one. */
const [BEFORE, AFTER] = ['(?<![\\p{L}\\p{N}_/-])', '(?![\\p{L}\\p{N}_-])'];

/** Fingerprints of this store (HMAC, 12 digits), installations (16), SSH keys; age recipients; SSH keys. */
const KEYS = [
  // An anchor names its log, and is of use only as a whole.
  `(?<!lifeboat:)${BEFORE}(?:[0-9a-f]{12}|[0-9a-f]{16})${AFTER}`,
  'SHA256:[A-Za-z0-9+/]{20,}={0,2}',
  `${BEFORE}age1[0-9a-z]{20,}`,
  'ssh-[a-z0-9-]{3,20} [A-Za-z0-9+/]{20,}={0,2}',
];
const KEY = new RegExp(KEYS.join('|'), 'gu');

const NOT_SHOWN = '(not shown)';

function hider(people: readonly string[]): (text: string) => string {
  const numbers = new Map(people.map((name, at) => [name, `person ${at + 1}`]));
  const names = people.filter((name) => name.length > 1).toSorted((one, other) => other.length - one.length);
  const known = names.map((name) => name.replaceAll(/[.*+?^${}()|[\]\\/-]/gu, '\\$&')).join('|');
  const person = known === '' ? undefined : new RegExp(`(?<![\\p{L}\\p{N}_-])(?:${known})${AFTER}`, 'gu');
  return (text) => {
    const keyless = text.replaceAll(KEY, NOT_SHOWN);
    return person === undefined ? keyless : keyless.replaceAll(person, (name) => numbers.get(name) ?? name);
  };
}
