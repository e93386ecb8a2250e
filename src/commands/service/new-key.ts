import { GENERATED_KEY_LENGTH } from '../../../machines/parts/task-data.ts';
import { isoOf } from '../../base/date.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { formatTime } from '../../base/format.ts';
import type { Secret } from '../../base/secret.ts';
import type { CommandContext } from '../../cli/context.ts';
import { askHidden } from '../../cli/hidden-prompt.ts';
import { readSecretFile } from '../../cli/read-given-file.ts';
import { warnOfKey } from '../../cli/warn-of-key.ts';
import { lateKeyUntil } from '../../keys/keyring.ts';
import { readLedger } from '../../store/projections/ledgers.ts';
import type { Scene } from './planned-change.ts';

/** Sources of a new key; at most one of them is given. */
export interface KeyFlags {
  readonly newKey?: boolean;
  readonly keyFile?: string;
  readonly askKey?: boolean;
}

export function isKeyWanted({ newKey, keyFile, askKey }: KeyFlags): boolean {
  return newKey === true || keyFile !== undefined || askKey === true;
}

/**
 * Takes the new key from the source in the flags and checks its length; stores nothing yet. Rejects with exit
 * 2 for a key that is too short, and with exit 3 while an earlier key change may still arrive.
 */
export async function newKeyOf(
  context: CommandContext,
  flags: KeyFlags,
  { instance, workspace }: Scene,
  minLength = 1,
): Promise<'generated' | Secret> {
  await assertKeyCertain({ instance, workspace });
  if (flags.newKey) {
    if (minLength > GENERATED_KEY_LENGTH)
      throw tooShort(`a generated key has ${GENERATED_KEY_LENGTH} characters`, minLength);
    return 'generated';
  }
  const key =
    flags.keyFile === undefined
      ? await askHidden(`the new key of ${instance.name}`, context, { twice: true })
      : await readSecretFile(flags.keyFile, context);
  await warnOfKey(context, key, { isNew: true });
  if (key.length < minLength) throw tooShort(`the key has ${key.length} characters`, minLength);
  return key;
}

function tooShort(what: string, minLength: number): LifeboatError {
  return new LifeboatError('key.too-short', `${what}, the service requires at least ${minLength}`, {
    hints: ['nothing was sent'],
    exitCode: EXIT.usage,
  });
}

/**
 * Rejects, with exit 3, while an earlier key change may still arrive: it would replace the new key, and the
 * ledger would name the wrong one as in force.
 */
async function assertKeyCertain({
  instance,
  workspace,
}: Pick<Scene, 'instance' | 'workspace'>): Promise<void> {
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
