import { approvalPaths, readIfThere, stampOf } from '../../approvals/approval-files.ts';
import type { ApprovalGate } from '../../approvals/gate.ts';
import { signCommand } from '../../approvals/refusals.ts';
import { requestStateOf } from '../../approvals/request-state.ts';
import type { Signers } from '../../approvals/verify-signature.ts';
import { failureOf } from '../../base/errors.ts';
import { formatTime } from '../../base/format.ts';
import type { RunState } from '../../runner/run.ts';
import type { ApprovalView } from '../../view/run-view.ts';

/**
 * The approval of a run as renderers show it: whatever is on disk at this moment. A changed signature is
 * verified in the background, so that reading the view never waits.
 */
export function approvalWatch(
  gate: ApprovalGate,
  home: string,
  signers: Signers | undefined,
): (state: RunState) => ApprovalView | undefined {
  let seen: { readonly stamp: string; readonly found: Pick<ApprovalView, 'state' | 'by' | 'problem'> } = {
    stamp: '',
    found: { state: 'needed' },
  };
  let looking: string | undefined;

  const look = (state: RunState, stamp: string) => {
    if (stamp === seen.stamp || looking !== undefined) return;
    looking = stamp;
    void gate
      .lookAt(state)
      .then((approval) => {
        const by = approval && `${approval.principals.join(',')} (${approval.key})`;
        seen = { stamp, found: by === undefined ? { state: 'needed' } : { state: 'given', by } };
      })
      .catch((thrown: unknown) => {
        seen = { stamp, found: { state: 'needed', problem: failureOf(thrown).shortMessage } };
      })
      .finally(() => {
        looking = undefined;
      });
  };

  return (state) => {
    if (gate.planOf(state) === undefined) return undefined;
    const { asked, withdrawn } = requestStateOf(state.entries);
    const glass = gate.glass();
    if (asked === undefined)
      return { ...NOT_ASKED, ...(glass === undefined ? {} : { state: 'bypassed', by: glass }) };
    const misfit = gate.misfit(state);
    if (misfit !== undefined)
      return glass === undefined
        ? { ...NOT_ASKED, problem: `the request on record does not fit this confirmation: ${misfit}` }
        : { ...NOT_ASKED, state: 'bypassed', by: glass };
    const paths = approvalPaths(home, state.runId, asked.challenge);
    const shown = {
      challenge: asked.challenge,
      file: paths.challenge,
      command: signCommand(paths.challenge),
      expiresAt: formatTime(asked.expiresAt),
    };
    const reason = withdrawn?.reason ?? documentAt(paths.withdrawn);
    if (reason !== undefined) return { ...shown, state: 'withdrawn', by: reason };
    if (gate.isExpired(asked, state.entries)) return { ...shown, state: 'expired' };
    const stamp = `${asked.challenge} ${stampOf([paths.signature, signers?.allowedSigners, signers?.revoked])}`;
    look(state, stamp);
    const found = seen.stamp === stamp ? seen.found : ({ state: 'needed' } as const);
    if (found.state !== 'given' && glass !== undefined) return { ...shown, state: 'bypassed', by: glass };
    return { ...shown, ...found };
  };
}

const NOT_ASKED: ApprovalView = { state: 'needed', challenge: '', file: '', command: '', expiresAt: '' };

function documentAt(path: string): string | undefined {
  try {
    return readIfThere(path)?.trim();
  } catch {
    return undefined;
  }
}
