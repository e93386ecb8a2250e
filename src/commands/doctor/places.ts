import { type CheckedEntries, changedInWords, checkEntries } from '../../audit/walk.ts';
import { LifeboatError } from '../../base/errors.ts';
import { counted, formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { placesOf } from '../../compose/checkpoint-places.ts';
import { NO_FOLDER } from '../../compose/shared-place.ts';
import { openUnchecked } from '../../compose/store-of.ts';
import { checkedAs } from '../../compose/store-seen.ts';
import { homeFolder } from '../../config/find.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { Keyring } from '../../keys/key-store.ts';
import type { JournalReader, Log } from '../../store/journal.ts';
import { type Checked, checkLog } from '../../store/log/check-log.ts';
import { detailsOf, inShort } from '../../store/log/explain-trouble.ts';
import { type Loss, lossInWords } from '../../store/log/log-entries.ts';
import type { Place } from '../../store/log/places/place.ts';
import { isOfPlaces, type SeenPlace, type SeenStore, type Trouble } from '../../store/log/rollback.ts';
import { createSigner, type Signer } from '../../store/log/signer.ts';
import { attempt, type Check, good } from './check.ts';

/**
 * Whether the journal agrees with the checkpoints of each place, how far each place reaches, which losses
 * were accepted, and whether its entries are as they were signed. Runs a command only with `deep`: it may
 * write a ticket each time. Otherwise only reads.
 */
export async function placeChecks(
  context: CommandContext,
  config: LoadedConfig,
  keyring: Keyring | undefined,
  deep: boolean,
): Promise<Check[]> {
  const found = await attempt('checkpoints', async () => {
    const places = placesOf(homeFolder(context.env), config.checkpoints);
    const journal = await openUnchecked(context).catch(undefinedWhereNone);
    try {
      const signer = await signerIfAny(keyring);
      const options = { ownKey: signer?.publicKey, ...(await checkedAs(context)) };
      const checked = journal === undefined ? undefined : await checkLog(journal, places, options);
      const commands = await Promise.all(
        places.map((place) =>
          place.kind === 'command' ? commandCheck(place, deep ? { journal, signer } : undefined) : [],
        ),
      );
      if (journal === undefined || checked === undefined) return commands.flat();
      // A missing entry would look changed: `audit verify` tells them apart.
      const { trouble, losses } = checked;
      const entries = trouble === undefined ? await entriesCheck(journal.log, losses, deep) : [];
      return [...checksOf(checked), ...entries, ...commands.flat()];
    } finally {
      await journal?.close();
    }
  });
  return 'check' in found ? [found.check] : found.value;
}

function undefinedWhereNone(thrown: unknown): undefined {
  if (!(thrown instanceof LifeboatError) || thrown.code !== 'journal.none') throw thrown;
}

/** Creates no key: a home that never signed has none. */
async function signerIfAny(keyring: Keyring | undefined): Promise<Signer | undefined> {
  if (keyring === undefined || !(await keyring.roots()).signingKey) return undefined;
  return createSigner(await keyring.signingKey());
}

function checksOf(checked: Checked): Check[] {
  const { trouble, losses, places, store } = checked;
  const read = places.filter(({ kind }) => kind !== 'command');
  return [
    ...(trouble === undefined
      ? []
      : [
          {
            what: 'journal',
            state: 'bad' as const,
            found: show(inShort(trouble), 300),
            hints: [...detailsOf(trouble), outOf(trouble)],
          },
        ]),
    ...(store.isMoved ? [MOVED] : []),
    ...(store.isShared && !places.some(({ kind }) => kind === 'folder') ? [noFolder()] : []),
    ...read.map((place) => placeCheck(place, store)),
    ...losses.map((loss): Check => {
      const found = show(`${formatTime(loss.at)} UTC, by ${loss.by}: ${lossInWords(loss)}`, 300);
      return { what: 'journal: loss', state: 'warn', found, hints: [] };
    }),
  ];
}

function outOf(trouble: Trouble): string {
  const what = isOfPlaces(trouble) ? 'folder of the checkpoints' : 'journal';
  return `put the ${what} back from a copy, or: lifeboat audit accept-loss --reason TEXT`;
}

const MOVED: Check = {
  what: 'journal',
  state: 'warn',
  found: 'all of it was moved to another store, where the log goes on',
  hints: ['name that store in lifeboat.yaml or LIFEBOAT_STORE: `lifeboat audit verify` says which it is'],
};

function noFolder(): Check {
  return { what: 'checkpoints: shared', state: 'bad', found: NO_FOLDER.what, hints: NO_FOLDER.hints };
}

function placeCheck(
  { name, kind, result, why, checkpoints, unsigned }: SeenPlace,
  { size: here, vouched, isMoved, isShared }: SeenStore,
): Check {
  const what = kind === 'home' ? 'checkpoints' : `checkpoints: ${show(name, 80)}`;
  if (result === 'down')
    return {
      what,
      state: kind === 'home' || isShared ? 'bad' : 'warn',
      found: `${show(name, 120)} cannot be read: ${show(why ?? '', 120)}`,
      hints: ['mount it, or repair the permissions of the folder; without it a rollback may go unseen'],
    };
  const own = checkpoints.filter(({ isAccepted }) => !isAccepted);
  const misfits = own.filter(({ size, rootHere, root }) => rootHere !== root && !(isMoved && size > here));
  const [newest] = own;
  const reach =
    newest === undefined
      ? vouched > 0
        ? 'no checkpoint'
        : 'no checkpoint yet'
      : `reaches entry ${newest.size}, from ${formatTime(newest.writtenAt)} UTC`;
  const says = [
    ...(misfits.length === 0
      ? []
      : [
          `${counted(misfits.length, 'checkpoint')} that the journal does not fit: ` +
            `${show(misfits[0]?.file ?? '', 120)}`,
        ]),
    ...(unsigned.length === 0 ? [] : [`not signed by a known key: ${show(unsigned[0] ?? '', 120)}`]),
    ...((newest?.size ?? 0) < vouched ? [`the journal was signed up to ${vouched}`] : []),
  ];
  const found = [`${show(name, 120)}: ${reach}`, ...says].join('; ');
  if (says.length === 0) return good(what, found);
  return { what, state: misfits.length > 0 ? 'bad' : 'warn', found, hints: [] };
}

/** Runs the command with the newest signed head of the store; nothing else of the journal is sent. */
async function commandCheck(
  place: Place,
  by: { readonly journal: JournalReader | undefined; readonly signer: Signer | undefined } | undefined,
): Promise<Check[]> {
  const what = `checkpoints: ${place.name}`;
  if (by === undefined)
    return [good(what, 'not tried: `lifeboat doctor --deep` sends it the newest checkpoint')];
  const note = (await by.journal?.log.head())?.note;
  if (note === undefined || by.signer === undefined) return [good(what, 'not tried: nothing is signed yet')];
  const written = await place.write(note, by.signer);
  if (written.result !== 'down') return [good(what, 'it accepted the newest checkpoint')];
  return [{ what, state: 'warn', found: show(written.why, 200), hints: ['run it by hand to see why'] }];
}

/** How many entries are hashed each time: it takes a tenth of a second, and covers most homes completely. */
const NEWEST = 10_000;

/**
 * Whether the entries still match what was signed over them: a count and a signed head do not reveal an entry
 * that was rewritten in place. Rehashes the newest 10,000, or all of them with `deep`.
 */
async function entriesCheck(
  log: Pick<Log, 'head' | 'stored'>,
  losses: readonly Loss[],
  deep: boolean,
): Promise<Check[]> {
  const found = await attempt('entries', () =>
    checkEntries(log, { losses, ...(deep ? {} : { newest: NEWEST }) }),
  );
  return 'check' in found ? [found.check] : inCheck(found.value);
}

function inCheck({ checked, unread, problems }: CheckedEntries): Check[] {
  if (problems.length > 0)
    return [
      {
        what: 'entries',
        state: 'bad',
        found: changedInWords(problems),
        hints: [
          'to see all that is wrong: `lifeboat audit verify`',
          'a changed entry cannot be repaired: restore the journal from a copy',
        ],
      },
    ];
  if (checked === 0) return [];
  const words = 'hashed again: they are as they were signed';
  if (unread === 0) return [good('entries', `all ${checked} were ${words}`)];
  return [
    good('entries', `the newest ${checked} were ${words}; ${unread} older ones: lifeboat doctor --deep`),
  ];
}
