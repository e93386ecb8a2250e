import { basename } from 'node:path';
import { EXIT, LifeboatError } from '../errors.ts';
import { formatTime } from '../format.ts';
import { NAMESPACE } from './ssh-signature.ts';

/** What people need to have a challenge approved. */
export interface Request {
  readonly run: string;
  /** The file of the challenge. */
  readonly file: string;
  /** RFC 3339. */
  readonly expiresAt: string;
}

/** The command for the second person, on whatever machine the file was carried to. */
export function signCommand(file: string): string {
  return `ssh-keygen -Y sign -n ${NAMESPACE} -f ~/.ssh/id_ed25519 ${quoted(file)}`;
}

export function needed(request: Request): LifeboatError {
  return refusal(
    'approval.needed',
    `a second person has to approve it until ${formatTime(request.expiresAt)} UTC`,
    request,
  );
}

export function expired(request: Request): LifeboatError {
  return refusal(
    'approval.expired',
    'the request for an approval has expired; another one was written',
    request,
  );
}

export function withdrawn(request: Request, reason: string): LifeboatError {
  return refusal('approval.withdrawn', `the approval was withdrawn: ${reason}`, request);
}

export function samePerson(request: Request, approver: string): LifeboatError {
  return refusal(
    'approval.same-person',
    `${approver} asks for it, so somebody else has to approve it`,
    request,
  );
}

function refusal(code: string, message: string, { run, file }: Request): LifeboatError {
  return new LifeboatError(code, message, {
    hints: [
      `give them the file ${file}`,
      `they sign it: ${signCommand(file)}`,
      `or: lifeboat approve ${quoted(basename(file))}`,
      `bring the signature back: lifeboat approvals accept ${run} ${quoted(`${basename(file)}.sig`)}`,
      'nothing was sent',
    ],
    exitCode: EXIT.waiting,
  });
}

/** A path as a word of a shell. */
function quoted(path: string): string {
  return /^[A-Za-z0-9_./~+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
