import { comparedAge, comparedCount } from '../../src/base/comparison.ts';
import { tcpAddress } from '../../src/base/tcp-address.ts';
import type { Check } from './plan.ts';

/** Below the place of a check or a step in its plan. */
interface Problem {
  readonly path: readonly string[];
  readonly message: string;
}

/** What each kind of check looks at; anything else in `expect` would be ignored. */
const LOOKS_AT = {
  http: ['status', 'text'],
  sql: ['rows', 'age', 'text', 'exit'],
  reconcile: ['rows', 'age'],
  tcp: [],
  command: ['exit', 'text', 'rows', 'age'],
} as const satisfies Record<string, readonly (keyof NonNullable<Check['expect']>)[]>;

/** Mistakes that would only show when the check is asked, in the middle of a recovery. Pure. */
export function problemsOfCheck(check: Check): readonly Problem[] {
  const { http, tcp, expect = {} } = check;
  const kinds = Object.keys(LOOKS_AT) as (keyof typeof LOOKS_AT)[];
  const asked = kinds.filter((key) => check[key] !== undefined);
  const [kind] = asked;
  if (kind === undefined || asked.length > 1)
    return [{ path: [], message: `a check asks one thing: ${kinds.join(', ')}` }];
  const address = http === undefined ? undefined : problemOfAddress(http);
  const looksAt: readonly string[] = LOOKS_AT[kind];
  const ignored = Object.keys(expect).filter((key) => !looksAt.includes(key));
  const takes = looksAt.length === 0 ? 'nothing of `expect`' : looksAt.join(', ');
  const { rows, age } = expect;
  return [
    ...(address === undefined ? [] : [{ path: ['http'], message: address }]),
    ...(tcp === undefined || tcpAddress(tcp) !== undefined
      ? []
      : [
          {
            path: ['tcp'],
            message: 'this is not HOST:PORT with a port from 1 to 65535: db.example.com:5432',
          },
        ]),
    ...ignored.map((key) => ({
      path: ['expect', key],
      message: `a check by ${kind} does not look at this: it takes ${takes}`,
    })),
    ...(rows === undefined || comparedCount(rows) !== undefined
      ? []
      : [{ path: ['expect', 'rows'], message: 'a sign and a number belong here: ">= 1000"' }]),
    ...(age === undefined || comparedAge(withObjective(age)) !== undefined
      ? []
      : [{ path: ['expect', 'age'], message: 'a sign and a duration belong here: "<= 1h", "<= {rpo}"' }]),
  ];
}

const OBJECTIVES = ['rpo', 'rto'] as const;

function withObjective(age: string): string {
  return OBJECTIVES.reduce((text, name) => text.replace(`{${name}}`, '1h'), age);
}

/** Of a check whose age names an objective that the plan has not. Pure. */
export function problemsOfObjectives(
  { expect: { age } = {} }: Check,
  objectives: Readonly<Record<string, unknown>>,
): readonly Problem[] {
  return OBJECTIVES.filter((name) => age?.includes(`{${name}}`) && objectives[name] === undefined).map(
    (name) => ({ path: ['expect', 'age'], message: `the plan has no ${name}: add it to \`objectives\`` }),
  );
}

/** A password in the address of a check would be on every screen. */
function problemOfAddress(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/u.test(url.protocol))
    return 'this is no address of the form https://HOST/PATH';
  if (url.username === '' && url.password === '') return undefined;
  return 'an address has no user or password: both would be on record';
}
