import { basename } from 'node:path';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { formatTime } from '../base/format.ts';
import { shellQuoted } from '../base/shell-quote.ts';
import { show } from '../base/text.ts';
import { NAMESPACE } from './ssh-signature.ts';

export interface Request {
  readonly run: string;
  readonly file: string;
  /** RFC 3339. */
  readonly expiresAt: string;
}

/** The command for the second person, on the machine that the file was copied to. */
export function signCommand(file: string): string {
  return `ssh-keygen -Y sign -n ${NAMESPACE} -f ~/.ssh/id_ed25519 ${shellQuoted(file)}`;
}

export function needed(request: Request): LifeboatError {
  return refusal(
    'approval.needed',
    `a second person has to approve it by ${formatTime(request.expiresAt)} UTC`,
    request,
  );
}

export function expired(request: Request): LifeboatError {
  return refusal(
    'approval.expired',
    'the request for an approval has expired; a new one was written',
    request,
  );
}

export function withdrawn(request: Request, reason: string): LifeboatError {
  return refusal('approval.withdrawn', `the approval was withdrawn: ${reason}`, request);
}

export function samePerson(request: Request, approver: string): LifeboatError {
  return refusal(
    'approval.same-person',
    `${approver} asked for this approval and cannot approve it: somebody else has to`,
    request,
  );
}

/** The key's listed name is too similar to the operator's to tell whether there are two people. */
export function namesake(request: Request, name: string): LifeboatError {
  return refusal(
    'approval.same-person',
    `${name}, who is listed with this key, has the same name as the person who asks for it`,
    request,
    [
      'if they are two people: list the key in the file of allowed signers under a name that tells them apart',
    ],
  );
}

/** The plan names who may approve, and this signer is not among them. */
export function notAmong(request: Request, name: string, of: readonly string[]): LifeboatError {
  const may = show(of.join(', '), 200);
  return refusal('approval.refused', `the plan lets only ${may} approve, and this is ${name}`, request);
}

/** Each approval of a quorum needs another person. */
export function alreadyApproved(request: Request, name: string): LifeboatError {
  return refusal(
    'approval.same-person',
    `${name} has approved this before, and counts once: somebody else has to`,
    request,
  );
}

export function starterCannot(request: Request, name: string): LifeboatError {
  return refusal(
    'approval.same-person',
    `${name} started the plan and cannot approve it: somebody else has to`,
    request,
  );
}

/** The signature is good, but for an earlier request of the run. */
export function superseded(request: Request): LifeboatError {
  return refusal(
    'approval.refused',
    'the signature is for an earlier request of this run, and a newer one has replaced that',
    request,
  );
}

/** No signature counts over a request that is not what the run is about to do. */
export function approvalMismatch(request: Request, why: string): LifeboatError {
  return refusal(
    'approval.astray',
    `the request on record does not fit this confirmation: ${why}; a new one was written`,
    request,
    ['something other than lifeboat, or another version, wrote to the journal: lifeboat audit verify'],
  );
}

/** The record requires a second person, and the config no longer names one. */
export function nobodyNamed(): LifeboatError {
  return new LifeboatError(
    'approval.nobody',
    'the record asks for the approval of a second person, and the config has no `approvals` any more',
    {
      hints: [
        'put `approvals` back into lifeboat.yaml',
        'in an emergency, without an approval: --break-glass REASON',
        'nothing was sent',
      ],
      exitCode: EXIT.waiting,
    },
  );
}

function refusal(
  code: string,
  message: string,
  { run, file }: Request,
  hints: readonly string[] = [],
): LifeboatError {
  return new LifeboatError(code, message, {
    hints: [
      ...hints,
      `give them the file ${file}`,
      `they sign it: ${signCommand(file)}`,
      `or: lifeboat approve ${shellQuoted(basename(file))}`,
      `bring the signature back: lifeboat approvals accept ${run} ${shellQuoted(`${basename(file)}.sig`)}`,
      'nothing was sent',
    ],
    exitCode: EXIT.waiting,
  });
}
