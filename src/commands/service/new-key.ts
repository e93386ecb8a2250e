import { GENERATED_KEY_LENGTH } from '../../../machines/parts/task-data.ts';
import { isoOf } from '../../base/date.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { formatTime } from '../../base/format.ts';
import type { CommandContext } from '../../cli/context.ts';
import { askHidden } from '../../cli/hidden-prompt.ts';
import { readSecretFile } from '../../cli/read-given-file.ts';
import { lateKeyUntil } from '../../keys/keyring.ts';
import { readLedger } from '../../store/projections/ledgers.ts';
import type { Output } from './call-outcome.ts';
import { lookInPlace, type Seen } from './look-first.ts';
import type { Perform, Scene } from './planned-change.ts';

/** Sources of a new key; at most one of them is given. */
export interface KeyFlags {
  readonly newKey?: boolean;
  readonly keyFile?: string;
  readonly askKey?: boolean;
}

/** How to get a new key, once a person has agreed to it. */
export type NewKey = {
  readonly origin: 'generated' | 'given';
  readonly given?: { fingerprint: string; length: number };
  readonly minLength: number;
};

/** Whether the flags ask for another key. */
export function isKeyWanted({ newKey, keyFile, askKey }: KeyFlags): boolean {
  return newKey === true || keyFile !== undefined || askKey === true;
}

/**
 * Takes the new key from the source in the flags and checks its length; stores nothing yet. Exit 2 for a key
 * that is too short.
 */
export async function newKeyOf(
  context: CommandContext,
  flags: KeyFlags,
  scene: Scene,
  { baseline }: Pick<Seen, 'baseline'>,
): Promise<NewKey> {
  const minLength = baseline?.minKeyLength ?? 1;
  if (flags.newKey) {
    if (minLength > GENERATED_KEY_LENGTH)
      throw tooShort(`a generated key has ${GENERATED_KEY_LENGTH} characters`, minLength);
    return { origin: 'generated', minLength };
  }
  const key =
    flags.keyFile === undefined
      ? await askHidden(`the new key of ${scene.instance.name}`, context, { twice: true })
      : await readSecretFile(flags.keyFile, context);
  if (key.length < minLength) throw tooShort(`the key has ${key.length} characters`, minLength);
  return { origin: 'given', given: { fingerprint: await scene.take(key), length: key.length }, minLength };
}

function tooShort(what: string, minLength: number): LifeboatError {
  return new LifeboatError('key.too-short', `${what}, the service requires at least ${minLength}`, {
    hints: ['nothing was sent'],
    exitCode: EXIT.usage,
  });
}

/**
 * Looks at an instance whose key is to be changed, as a rotation does. Rejects while an earlier key change
 * may still arrive.
 */
export async function lookForKey(scene: Scene): Promise<Seen> {
  await assertKeyCertain(scene);
  return lookInPlace({ tolerant: false, restores: true })(scene);
}

/** Stores the key, reads it back, records it, and only then sets it. */
export async function setKey(perform: Perform, key: NewKey, scene: Scene): Promise<Output> {
  const { fingerprint } = await storeKey(perform, key);
  const previous = await scene.currentKey();
  const set = await perform({
    verb: 'setKey',
    input: { fingerprint, ...(previous === undefined ? {} : { previous }) },
  });
  return { ...set, fingerprint };
}

/** Puts a new key where it cannot be lost: in the key store, and by its fingerprint on the ledger. */
export async function storeKey(
  perform: Perform,
  { origin, given, minLength }: NewKey,
): Promise<{ fingerprint: string }> {
  const input = { origin, minLength, ...(given === undefined ? {} : { given }) };
  const stored = await perform({ verb: 'storeKey', input });
  await perform({ verb: 'readBackKey', input: { key: stored as never } });
  return { fingerprint: String(stored['fingerprint']) };
}

/**
 * Rejects, with exit 3, while an earlier key change may still arrive: it would replace the new key, and the
 * ledger would name the wrong one as in force.
 */
async function assertKeyCertain({ instance, workspace }: Scene): Promise<void> {
  const { epochs } = await readLedger(workspace.journal, instance.name);
  const until = lateKeyUntil(epochs, { inFlightMs: instance.config.inFlight, nowMs: Date.now() });
  if (until === undefined) return;
  throw new LifeboatError(
    'doubt.key',
    'an earlier key change was sent, its answer is lost, and it may still arrive',
    {
      hints: [
        `nothing was sent; try again after ${formatTime(isoOf(until))} UTC`,
        `until then, a new backup shows which key is in force: lifeboat backups create ${instance.name} --wait`,
      ],
      exitCode: EXIT.waiting,
    },
  );
}
