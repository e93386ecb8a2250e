import { readFile, stat } from 'node:fs/promises';
import { isSeq, parseDocument } from 'yaml';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { counted } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { printResult, type ResultOf } from '../../cli/print-result.ts';
import { copiesIn, escrowOf, openCopies } from '../../compose/escrow.ts';
import { openWorkspace, type Workspace, workspaceFor } from '../../compose/workspace.ts';
import { instanceNamed, loadConfig } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { assertRecipient } from '../../keys/escrow-copy.ts';
import { lacksOf } from '../../keys/escrow-policy.ts';
import { identityIn } from '../../keys/identity.ts';
import { appendHolding } from '../../runner/holds.ts';
import { readLedger } from '../../store/projections/ledgers.ts';
import { destroyDue } from './end-key.ts';
import { escrowConfig, type KeyToKeep, keysToKeep } from './escrow.ts';

/**
 * `lifeboat keys escrow update`: seals again every held key with missing copies or other recipients than the
 * config's. Reports a key that this person can neither read nor open; then exit 1.
 */
export const escrowUpdate: Action<{ readonly instance?: string }> = async (context, _, { instance }) => {
  const config = await loadConfig(context.env, context.configPath);
  if (instance !== undefined) instanceNamed(config, instance);
  return await update(context, config, instance === undefined ? Object.keys(config.instances) : [instance]);
};

/** `lifeboat keys escrow add RECIPIENT`: into the config; seals every held key to them too. */
export const escrowAdd: Action<{ readonly name?: string }> = async (context, [recipient = ''], { name }) => {
  await assertRecipient(recipient);
  const config = await loadConfig(context.env, context.configPath);
  const { recipients } = escrowConfig(config);
  if (!recipients.some((one) => one.recipient === recipient))
    await editRecipients(config.path, (known) => [
      ...known,
      name === undefined ? recipient : { name, recipient },
    ]);
  return await updateAll(context);
};

/**
 * `lifeboat keys escrow remove RECIPIENT`: takes a recipient, or a name, out of the config and seals every
 * held key without them. What they can still open is told.
 */
export const escrowRemove: Action<object> = async (context, [who = '']) => {
  const config = await loadConfig(context.env, context.configPath);
  const { recipients, atLeast } = escrowConfig(config);
  const gone = recipients.filter(({ recipient, ...named }) => recipient === who || nameIn(named) === who);
  const [one] = gone;
  if (one === undefined || gone.length > 1)
    throw usage(
      gone.length > 1
        ? `${gone.length} recipients are called ${show(who, 80)}`
        : `${show(who, 80)} is no recipient of the config`,
      `they are: ${recipients.map(({ recipient, ...named }) => nameIn(named) ?? recipient).join(', ')}`,
    );
  if (recipients.length - 1 < atLeast)
    throw usage(
      `without ${show(who, 80)} there are fewer than the ${atLeast} holders that the policy asks for`,
      'add another recipient first, or lower `atLeast`',
    );
  await editRecipients(config.path, (known) => known.filter((given) => recipientIn(given) !== one.recipient));
  return await updateAll(context);
};

function usage(text: string, hint: string): LifeboatError {
  return new LifeboatError('usage.recipient', text, {
    hints: ['nothing was changed', hint],
    exitCode: EXIT.usage,
  });
}

function nameIn({ name }: { readonly name?: string | undefined }): string | undefined {
  return name;
}

function recipientIn(given: unknown): unknown {
  return typeof given === 'object' && given !== null && 'recipient' in given ? given.recipient : given;
}

/** Rewrites the list of recipients and leaves the rest of the file, comments included, as it is. */
async function editRecipients(path: string, edit: (known: readonly unknown[]) => readonly unknown[]) {
  const document = parseDocument(await readFile(path, 'utf8'));
  const at = ['keys', 'escrow', 'recipients'];
  const known = document.getIn(at);
  if (!isSeq(known))
    throw usage(
      `${show(path, 200)} does not list its recipients where they can be edited`,
      'edit the file by hand, then run `lifeboat keys escrow update`',
    );
  document.setIn(at, document.createNode(edit(known.toJSON() as unknown[]), { flow: known.flow === true }));
  const { mode } = await stat(path);
  const { default: writeFileAtomic } = await import('write-file-atomic');
  await writeFileAtomic(path, document.toString({ lineWidth: 0 }), { mode });
}

async function updateAll(context: CommandContext): Promise<number> {
  const config = await loadConfig(context.env, context.configPath);
  return await update(context, config, Object.keys(config.instances));
}

type Result = Omit<ResultOf<'escrow-update'>, 'schema'>;

async function update(
  context: CommandContext,
  config: LoadedConfig,
  names: readonly string[],
): Promise<number> {
  const policy = escrowConfig(config);
  const workspace = await openWorkspace(context, workspaceFor(config));
  try {
    const { keyring, journal } = workspace;
    await destroyDue(context, config, workspace);
    const copies = await copiesIn(policy.places, journal, names);
    const escrow = escrowOf(policy, workspace);
    const result = { sealed: [], unchanged: [], left: [], stillOpen: [] } as Mutable<Result>;
    for (const key of await keysToKeep({ keyring, journal }, names)) {
      const { instance, fingerprint } = key;
      const its = copies.copies.filter(
        ({ copy }) => copy.instance === instance && copy.fingerprint === fingerprint,
      );
      const found = its.map(({ place, copy }) => ({ place, recipients: copy.recipients }));
      const extra = found.some(({ recipients }) =>
        recipients.some((one) => !policy.recipients.some(({ recipient }) => recipient === one)),
      );
      if (!extra && lacksOf(policy, { ...key, copies: found }).length === 0) {
        result.unchanged.push({ instance, fingerprint });
        continue;
      }
      try {
        const secret = await readable(workspace, key, its);
        const entry = await escrow.seal(instance, fingerprint, secret, { strict: false });
        await appendHolding(journal, [entry]);
        result.sealed.push({
          ...{ instance, fingerprint, places: policy.places.map(({ name }) => name) },
          recipients: policy.recipients.map(({ recipient }) => recipient),
        });
      } catch (thrown) {
        if (!(thrown instanceof LifeboatError)) throw thrown;
        result.left.push({ instance, fingerprint, why: thrown.shortMessage });
      }
    }
    for (const instance of names) result.stillOpen.push(...(await formerOpeners(workspace, instance)));
    await printResult(context, 'escrow-update', result, () => printUpdate(context, result));
    return result.left.length === 0 ? EXIT.closed : EXIT.failed;
  } finally {
    await workspace.close();
  }
}

type Mutable<T> = {
  -readonly [Field in keyof T]: T[Field] extends readonly (infer Item)[] ? Item[] : T[Field];
};

/** The key itself: held here, or opened from a copy with this person's identity. */
async function readable(
  { keyring, journal }: Workspace,
  { instance, fingerprint }: KeyToKeep,
  copies: Parameters<typeof openCopies>[0],
) {
  const held = await keyring.load(instance, fingerprint);
  if (held !== undefined) return held;
  const own = await identityIn(keyring.store);
  if (own !== undefined) {
    await openCopies(copies, [own.identity], { keyring, guard: (secret) => journal.guard(secret) });
    const opened = await keyring.load(instance, fingerprint);
    if (opened !== undefined) return opened;
  }
  throw new LifeboatError(
    'escrow.unreadable',
    'it is not held here, and no identity here opens a copy of it',
  );
}

/** Who was left out by the newest copy of a key and can still open an earlier one. */
async function formerOpeners(
  { journal }: Workspace,
  instance: string,
): Promise<Result['stillOpen'][number][]> {
  const { epochs, custody } = await readLedger(journal, instance);
  return Object.entries(custody?.keys ?? {}).flatMap(([fingerprint, { escrowed, destroyed }]) => {
    if (destroyed !== undefined) return [];
    const epoch = epochs.find((one) => one.fingerprint === fingerprint);
    const active = epoch?.setAt !== undefined && epoch.endedAt === undefined;
    return (escrowed?.former ?? []).map((recipient) => ({ instance, fingerprint, recipient, active }));
  });
}

function printUpdate(
  { stdout, stderr }: CommandContext,
  { sealed, unchanged, left, stillOpen }: Result,
): void {
  for (const { instance, fingerprint, places, recipients } of sealed)
    stdout.write(
      `key ${fingerprint} of ${instance} is sealed to ${recipients.length} recipients, in ${show(places.join(', '), 200)}\n`,
    );
  if (unchanged.length > 0) stdout.write(`unchanged: ${counted(unchanged.length, 'key')}\n`);
  for (const { instance, fingerprint, why } of left)
    stdout.write(`NOT sealed: key ${fingerprint} of ${instance}: ${show(why, 300)}\n`);
  for (const { instance, fingerprint, recipient, active } of stillOpen)
    stdout.write(
      `${recipient.slice(0, 12)}… can still open copies made before of key ${fingerprint} of ${instance}${active ? ', which is in force' : ''}\n`,
    );
  if (stillOpen.length === 0) return;
  stderr.write(
    'earlier copies stay in the store and in the history of a git folder: only a new key shuts them out\n',
  );
  for (const instance of new Set(stillOpen.filter(({ active }) => active).map((one) => one.instance)))
    stderr.write(`hint: lifeboat run rotate-key --instance ${instance}\n`);
}
