import { EXIT, LifeboatError } from '../../base/errors.ts';
import type { Secret } from '../../base/secret.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { printResult } from '../../cli/print-result.ts';
import { readGivenFile } from '../../cli/read-given-file.ts';
import { openKeys, openWorkspace, type Workspace, workspaceFor } from '../../compose/workspace.ts';
import { loadConfig } from '../../config/load.ts';
import type { EscrowConfig } from '../../config/loaded.ts';
import { answerTo, makeChallenge } from '../../keys/escrow-copy.ts';
import { identitiesIn, identityIn, makeIdentity, recipientOf } from '../../keys/identity.ts';
import type { KeyStore } from '../../keys/key-store.ts';
import { appendHolding } from '../../runner/holds.ts';
import { HOLDERS_STREAM } from '../../store/journal.ts';
import { challengedEntry, foldHolders, type Holder, provenEntry } from '../../store/projections/holders.ts';
import { escrowConfig } from './escrow.ts';

/** `lifeboat keys identity`: prints this person's age recipient; makes the identity if missing. */
export const keysIdentity: Action<{ readonly hybrid?: boolean }> = async (context, _, { hybrid }) => {
  const { store } = await openKeys(context);
  const before = await identityIn(store);
  const { recipient } = before ?? (await makeIdentity(store, hybrid === true ? 'hybrid' : 'x25519'));
  const keptIn = store.description;
  await printResult(context, 'identity', { recipient, made: before === undefined, keptIn }, () => {
    context.stdout.write(`${recipient}\n`);
    context.stderr.write(
      before === undefined
        ? `a new identity is kept in ${keptIn}; others seal keys to the recipient above\n`
        : `the identity is kept in ${keptIn}\n`,
    );
  });
  return EXIT.closed;
};

interface ProveFlags {
  readonly identity?: string;
  readonly ask?: string;
  readonly open?: string;
  readonly answer?: string;
}

/** Bytes of a challenge that are read at most. */
const MAX_CHALLENGE = 64 * 1024;

/**
 * `lifeboat keys escrow prove`: opens a challenge with this person's identity and puts the proof on record.
 * With `--ask` prints a challenge for a holder elsewhere, who answers it with `--open FILE`, without a store;
 * `--answer` puts the answer on record.
 */
export const escrowProve: Action<ProveFlags> = async (context, _, flags) => {
  if (flags.open !== undefined) return answerFile(context, flags.open, flags.identity);
  const config = await loadConfig(context.env, context.configPath);
  const policy = escrowConfig(config);
  const workspace = await openWorkspace(context, workspaceFor(config));
  try {
    const holders = foldHolders(await workspace.journal.read(HOLDERS_STREAM));
    if (flags.ask !== undefined) return await ask(context, workspace, recipientNamed(policy, flags.ask));
    if (flags.answer !== undefined) return await record(context, workspace, holders, flags.answer);
    return await proveHere(context, workspace, { policy, holders, identity: flags.identity });
  } finally {
    await workspace.close();
  }
};

async function ask(context: CommandContext, { journal }: Workspace, recipient: string): Promise<number> {
  const challenge = await makeChallenge(recipient);
  const { sealed } = challenge;
  await appendHolding(journal, [challengedEntry(challenge)]);
  await printResult(
    context,
    'escrow-proof',
    { proven: [], asked: [{ recipient, challenge: sealed }] },
    () => {
      context.stdout.write(sealed.endsWith('\n') ? sealed : `${sealed}\n`);
      context.stderr.write('send it to the holder, who runs `lifeboat keys escrow prove --open FILE`\n');
      context.stderr.write('or `age --decrypt --identity IDENTITY FILE`, and sends back what it prints\n');
    },
  );
  return EXIT.closed;
}

async function answerFile(
  context: CommandContext,
  file: string,
  identity: string | undefined,
): Promise<number> {
  const sealed = (await readGivenFile(file, MAX_CHALLENGE, 'nothing was recorded')).toString();
  const { store } = await openKeys(context, 'look');
  const answer = await answerTo(sealed, await identities(store, identity));
  await printResult(context, 'escrow-proof', { proven: [], asked: [], answer }, () => {
    context.stdout.write(`${answer}\n`);
    context.stderr.write('give it back: `lifeboat keys escrow prove --answer ANSWER` puts it on record\n');
  });
  return EXIT.closed;
}

async function record(
  context: CommandContext,
  { journal }: Workspace,
  holders: readonly Holder[],
  answer: string,
): Promise<number> {
  const proof = provenEntry(holders, answer.trim());
  if (proof === undefined) throw wrongAnswer();
  await appendHolding(journal, [proof.entry]);
  // The record itself decides whether the answer is right: it has only its hash.
  const after = foldHolders(await journal.read(HOLDERS_STREAM));
  if (after.find(({ recipient }) => recipient === proof.recipient)?.open !== undefined) throw wrongAnswer();
  await printProven(context, [proof.recipient]);
  return EXIT.closed;
}

function wrongAnswer(): LifeboatError {
  return new LifeboatError('escrow.wrong-answer', 'this does not answer an open challenge', {
    hints: ['no proof was recorded', 'ask the holder again: `lifeboat keys escrow prove --ask RECIPIENT`'],
    exitCode: EXIT.usage,
  });
}

interface Prove {
  readonly policy: EscrowConfig;
  readonly holders: readonly Holder[];
  readonly identity: string | undefined;
}

async function proveHere(
  context: CommandContext,
  { journal, keyring }: Workspace,
  { policy, holders, identity }: Prove,
): Promise<number> {
  const own = await identities(keyring.store, identity);
  const proven: string[] = [];
  for (const one of own) {
    const recipient = await recipientOf(one);
    if (!policy.recipients.some((known) => known.recipient === recipient)) continue;
    const open = holders.find((holder) => holder.recipient === recipient)?.open;
    const made = open === undefined ? await makeChallenge(recipient) : undefined;
    const challenge = open ?? made;
    if (challenge === undefined) continue;
    const answer = await answerTo(challenge.sealed, [one]);
    const proof = provenEntry([{ recipient, open: challenge }], answer);
    if (proof === undefined) throw wrongAnswer();
    await appendHolding(journal, made === undefined ? [proof.entry] : [challengedEntry(made), proof.entry]);
    proven.push(recipient);
  }
  if (proven.length === 0)
    throw new LifeboatError(
      'escrow.no-recipient',
      'none of the identities here belongs to a recipient of the config',
      {
        hints: [
          'nothing was recorded',
          '`lifeboat keys identity` prints the recipient of this person: `lifeboat keys escrow add RECIPIENT`',
          'or name a file of identities with --identity FILE',
        ],
        exitCode: EXIT.usage,
      },
    );
  await printProven(context, proven);
  return EXIT.closed;
}

async function printProven(context: CommandContext, proven: readonly string[]): Promise<void> {
  await printResult(context, 'escrow-proof', { proven, asked: [] }, () => {
    for (const recipient of proven)
      context.stdout.write(`${show(recipient, 80)} opened a challenge: on record\n`);
  });
}

/** A recipient of the policy by its text or its name. */
function recipientNamed({ recipients }: EscrowConfig, who: string): string {
  const found = recipients.filter((one) => one.recipient === who || ('name' in one && one.name === who));
  const [one] = found;
  if (one !== undefined && found.length === 1) return one.recipient;
  throw new LifeboatError('usage.recipient', `${show(who, 80)} is no recipient of the config`, {
    hints: ['`lifeboat keys escrow check` lists them', 'nothing was recorded'],
    exitCode: EXIT.usage,
  });
}

/** Of a file, or this person's own. Rejects with `escrow.no-identity` (exit 2) without one. */
export async function identities(store: KeyStore, file: string | undefined): Promise<readonly Secret[]> {
  if (file !== undefined) {
    const text = (await readGivenFile(file, MAX_CHALLENGE, 'nothing was opened')).toString();
    return identitiesIn(text);
  }
  const own = await identityIn(store);
  if (own !== undefined) return [own.identity];
  throw new LifeboatError('escrow.no-identity', `there is no age identity in ${store.description}`, {
    hints: ['name its file with --identity FILE', 'or make one: `lifeboat keys identity`'],
    exitCode: EXIT.usage,
  });
}
