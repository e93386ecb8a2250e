import { basename, resolve } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import {
  type Challenge,
  challengeId,
  MAX_CHALLENGE_BYTES,
  parseChallenge,
} from '../../approvals/challenge.ts';
import { NAMESPACE, publicKeyOf, signerOf, signText, sshKeygen } from '../../approvals/ssh-signature.ts';
import { dropLink } from '../../base/bounded-file.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { msOf } from '../../base/instant.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { printResult } from '../../cli/print-result.ts';
import { readGivenFile } from '../../cli/read-given-file.ts';
import { stopSignal } from '../../cli/stop-signal.ts';
import { openKeys } from '../../compose/workspace.ts';
import { typedLine } from '../../plain/ask.ts';
import { canAsk } from '../../plain/terminal.ts';
import { createSigner } from '../../store/log/signer.ts';

interface ApproveFlags {
  readonly key?: string;
  readonly out?: string;
  readonly confirm?: string;
  readonly printKey?: string;
}

/**
 * `lifeboat approve CHALLENGE-FILE`, on the second person's machine: shows the request, asks the person to
 * type the target's name, and signs with an SSH key or with lifeboat's own. Needs no config, and writes the
 * signature to a separate file. `--print-key NAME` prints the line that the other side needs.
 */
export const approve: Action<ApproveFlags> = async (context, [file], flags) => {
  if (flags.printKey !== undefined) return printKey(context, flags.printKey);
  if (file === undefined) throw usage('usage.challenge', 'name the request to approve');
  const out = flags.out ?? `${file}.sig`;
  if (resolve(out) === resolve(file))
    throw usage('usage.out', 'the signature would be written over the request itself');
  const text = (await readGivenFile(file, MAX_CHALLENGE_BYTES, 'nothing was signed')).toString('latin1');
  const challenge = parseChallenge(text);
  const [, named] = /^([0-9a-f]{16})\.txt$/.exec(basename(file)) ?? [];
  if (named !== undefined && named !== challengeId(text))
    throw usage('approval.astray', `the file is named after another request: it holds ${challengeId(text)}`);
  for (const line of text.trimEnd().split('\n')) context.stderr.write(`  ${show(line, 500)}\n`);
  if (msOf(challenge.expires) <= Date.now())
    throw usage('approval.expired', `this request expired at ${challenge.expires}`, [
      'to write a new one, type the name at the run again',
    ]);
  await confirmTarget(context, challenge, flags.confirm);
  const signature = await signatureOver(context, text, flags.key);
  // The request may be in a shared folder, where another user could have placed a link under this name.
  dropLink(out);
  await writeFileAtomic(out, signature, { mode: 0o600 });
  const signed = { path: out, runId: challenge.run, target: challenge.target, order: challenge.order };
  await printResult(context, 'signature', signed, () => {
    context.stdout.write(`${show(out, 4096)}\n`);
  });
  if (flags.key === undefined)
    context.stderr.write(
      `hint: it is signed with lifeboat's own key ${signerOf(signature)?.fingerprint ?? ''}, ` +
        'which has to be among the allowed signers: lifeboat approve --print-key NAME\n',
    );
  context.stderr.write(
    `signed; hand it to the run with: lifeboat approvals accept ${challenge.run} ${show(out)}\n`,
  );
  return EXIT.closed;
};

async function printKey(context: CommandContext, principal: string): Promise<number> {
  if (!/^[A-Za-z0-9._+@-]{1,200}$/.test(principal))
    throw usage('usage.principal', 'the name may have only letters, digits, dots and @');
  const pem = await (await openKeys(context)).signingKey();
  const { publicKey } = publicKeyOf(pem);
  const line = `${principal} namespaces="${NAMESPACE}" ${publicKey} lifeboat:${createSigner(pem).installation}`;
  await printResult(context, 'signer', { line }, () => {
    context.stdout.write(`${line}\n`);
  });
  return EXIT.closed;
}

/** The target's name, typed or given by the flag, shows that the signer has read the request. */
async function confirmTarget(
  context: CommandContext,
  { target, order }: Challenge,
  given: string | undefined,
): Promise<void> {
  if (given === target) return;
  if (given !== undefined)
    throw usage('usage.confirm', `--confirm says ${show(given, 80)}, but the target is ${show(target)}`);
  if (!canAsk(context))
    throw new LifeboatError('approval.unconfirmed', 'there is no terminal to confirm it in', {
      hints: ['nothing was signed', `to sign it: add --confirm ${show(target)}`],
      exitCode: EXIT.waiting,
    });
  const stop = stopSignal();
  try {
    const line = await typedLine(context, `type ${show(target)} to approve: ${show(order)}\n> `, stop.signal);
    if (line?.trim() === target) return;
  } finally {
    stop.release();
  }
  throw new LifeboatError('approval.declined', 'nothing was signed', { exitCode: EXIT.interrupted });
}

async function signatureOver(
  context: CommandContext,
  text: string,
  key: string | undefined,
): Promise<string> {
  if (key === undefined) return signText(text, await (await openKeys(context)).signingKey());
  if (key.startsWith('-')) throw usage('usage.key', 'the name of a key file must not begin with a dash');
  const args = ['-Y', 'sign', '-f', key, '-n', NAMESPACE];
  const { code, stdout, stderr } = await sshKeygen(args, text, { patient: true });
  if (code === 0) return stdout;
  throw new LifeboatError('approval.unsigned', `ssh-keygen did not sign: "${show(stderr.trim(), 200)}"`, {
    hints: ['nothing was written', 'with an agent, name the public key: --key ~/.ssh/id_ed25519.pub'],
    exitCode: EXIT.usage,
  });
}

function usage(code: string, message: string, hints: readonly string[] = []): LifeboatError {
  return new LifeboatError(code, message, { hints: [...hints, 'nothing was signed'], exitCode: EXIT.usage });
}
