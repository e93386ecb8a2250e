import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { doneBackups } from '../../compose/ask-fleet.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import type { Keyring, KeyStore } from '../../keys/key-store.ts';
import { keyringFiles, keyringFolder } from '../../keys/keyring-files.ts';
import { keepHints } from '../../keys/os-trouble.ts';
import { candidates } from '../../store/projections/key-epochs.ts';
import { type Ledger, readLedger } from '../../store/projections/ledgers.ts';
import { nothingAsked } from '../../view/fleet/fleet-facts.ts';
import { type Openness, opennessOf } from '../../view/fleet/openers.ts';
import { attempt, type Check, good } from './check.ts';
import type { Looked } from './instance.ts';

/**
 * Every key that may be in force must be held, and the newest backup not known as unopenable; instances of
 * which no key is known at all are named together, but for targets, which may be empty. `instances`: with
 * their listed backups. Only reads.
 */
export async function keysHeld(
  context: CommandContext,
  instances: readonly (readonly [name: string, listed: Looked['backups']])[],
  keyring: Keyring,
  isTarget: (name: string) => boolean,
): Promise<Check[]> {
  const found = await attempt('keys', async () => {
    const journal = await openJournalIfAny(context);
    try {
      const checks: Check[] = [];
      const unknown: string[] = [];
      for (const [name, listed] of instances) {
        const ledger = journal && (await readLedger(journal, name));
        const held = await keyring.list(name);
        if (ledger === undefined || (ledger.epochs.length === 0 && ledger.unopened === undefined)) {
          if (held.length === 0 && !isTarget(name)) unknown.push(name);
        } else checks.push(...keyChecks(name, { ledger, listed, held }));
      }
      return [...checks, ...withoutKeys(unknown)];
    } finally {
      await journal?.close();
    }
  });
  return 'check' in found ? [found.check] : found.value;
}

interface KeyFacts {
  readonly ledger: Ledger;
  readonly listed: Pick<NonNullable<Looked['backups']>, 'value' | 'skew'> | undefined;
  /** By fingerprint. */
  readonly held: readonly string[];
}

/** The checks of one instance. Pure. */
export function keyChecks(name: string, facts: KeyFacts): Check[] {
  const what = `${name}: keys`;
  const possible = candidates(facts.ledger.epochs).map(({ fingerprint }) => fingerprint);
  const missing = possible.filter((fingerprint) => !facts.held.includes(fingerprint));
  if (missing.length > 0) return [notHeld(name, `may be in force and is not held: ${missing.join(', ')}`)];
  const newest = newestUnopened(name, facts);
  if (newest?.isKeyMissing) return [notHeld(name, `${newest.why}: another key may be in force`)];
  const damaged: Check[] =
    newest === undefined
      ? []
      : [
          {
            what: `${name}: newest backup`,
            state: 'bad',
            found: newest.why,
            hints: [`make another, and prove it: lifeboat run back-up-and-verify ${name}`],
          },
        ];
  if (possible.length === 0) return damaged;
  return [good(what, `every key that may be in force is held: ${possible.join(', ')}`), ...damaged];
}

/** More would bury the sentence. */
const MOST_NAMED = 5;

/** Of instances without a key on record or in the key store. Pure. */
export function withoutKeys(names: readonly string[]): Check[] {
  const [first] = names;
  if (first === undefined) return [];
  const more = names.length - MOST_NAMED;
  const named = [...names.slice(0, MOST_NAMED), ...(more > 0 ? [`${more} more`] : [])].join(', ');
  return [
    {
      what: 'keys',
      state: 'warn',
      found: `no key is held or on record, so no backup can be opened: ${show(named, 400)}`,
      hints: [
        `if you have the key: lifeboat keys add ${first}`,
        ...(names.length === 1
          ? []
          : ['the keys of many, as DIR/INSTANCE.key: lifeboat keys add --folder DIR']),
        `or set one, and prove it with a backup: lifeboat run rotate-key ${first}`,
      ],
    },
  ];
}

function notHeld(name: string, found: string): Check {
  return {
    what: `${name}: keys`,
    state: 'bad',
    found,
    hints: [
      'its backups cannot be opened: put the key store back from a copy',
      `or store the key again: lifeboat keys add ${name}`,
      `or set a new key, and prove it with a backup: lifeboat run rotate-key ${name}`,
    ],
  };
}

/** As `status` judges it; undefined also if the list is not known. */
function newestUnopened(
  name: string,
  { ledger, listed, held }: KeyFacts,
): Extract<Openness, { readonly how: 'not' }> | undefined {
  const [newest] = doneBackups(listed?.value ?? []);
  if (newest === undefined) return undefined;
  const known = <Value>(value: Value) => ({ state: 'known', at: new Date(), value }) as const;
  const openness = opennessOf(
    {
      ...nothingAsked({ name, role: 'source', objectives: {} }),
      backups: known({ done: [newest], skewMs: listed?.skew?.skewMs }),
      record: known({ ledger, openRuns: [], inDoubt: [], followUps: [] }),
      held: known(held),
    },
    newest,
  );
  return openness.how === 'not' ? openness : undefined;
}

/** For an OS keychain: keys in plain text, or an unreadable keyring beside the used one. Else empty. */
export async function keyringChecks(env: NodeJS.ProcessEnv, store: KeyStore): Promise<Check[]> {
  if (store.kind !== 'os') return [];
  const clear = await attempt(PLAIN, async () => store.heldInClear?.());
  if ('check' in clear) return [clear.check];
  const broken = keyringFiles(keyringFolder(env)).filter(({ brokenAt }) => brokenAt !== undefined);
  return [
    ...(clear.value === undefined ? [] : [inClear(clear.value)]),
    ...broken.map((file): Check => {
      const found = `${show(file.path)}: the keychain service cannot read this keyring`;
      return { what: 'key store: keyring', state: 'bad', found, hints: keepHints(file) };
    }),
  ];
}

const PLAIN = 'key store: plain text';

function inClear(path: string): Check {
  return {
    what: PLAIN,
    state: 'warn',
    found: `${show(path)} keeps keys in plain text: this keyring has no password`,
    hints: [
      'give the keyring a password: in Passwords and Keys (seahorse), Change Password',
      'or keep keys in the vault file: write `keyStore: vault` into lifeboat.yaml',
    ],
  };
}
