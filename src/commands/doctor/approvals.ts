import { evaluateSigners, withoutMark } from '../../approvals/allowed-signers.ts';
import { sshKeygenWorks } from '../../approvals/ssh-signature.ts';
import { readSigners } from '../../approvals/verify-signature.ts';
import { counted } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { assertApproversConfigured } from '../approvals/required.ts';
import { attempt, type Check, good } from './check.ts';

/** Checks what an approval by a second person depends on; empty if the config asks for none. Only reads. */
export async function approvalChecks(config: LoadedConfig): Promise<Check[]> {
  const { approvals } = config;
  const named = await attempt('approvals', async () => assertApproversConfigured(config));
  if ('check' in named) return [named.check];
  if (approvals === undefined) return [];
  const { allowedSigners, revoked } = approvals;
  return [
    await tool(),
    await signers(allowedSigners),
    ...(revoked === undefined ? [] : [await revokedKeys(revoked)]),
  ];
}

async function tool(): Promise<Check> {
  const what = 'approvals: ssh-keygen';
  const found = await attempt(what, sshKeygenWorks);
  return 'check' in found ? found.check : good(what, found.value);
}

/** Every line must be valid for ssh-keygen(1); an invalid one would silently keep a person from approving. */
async function signers(path: string): Promise<Check> {
  const what = 'approvals: signers';
  const found = await attempt(what, () => readSigners(path, 'file of allowed signers'));
  if ('check' in found) return found.check;
  const content = withoutMark(found.value).toString('utf8');
  const lines = content
    .split('\n')
    .map((text, at) => ({ text: text.trim(), at: at + 1 }))
    .filter(({ text }) => text !== '' && !text.startsWith('#'));
  const odd = lines.filter(({ text }) => !LINE.test(text));
  if (odd.length > 0)
    return {
      what,
      state: 'bad',
      found: `${show(path)}: line ${odd.map(({ at }) => at).join(', ')} is not in ssh-keygen(1) format`,
      hints: [EXAMPLE, '`lifeboat approve --print-key NAME` prints one on the machine of the second person'],
    };
  if (lines.length > 0) return evaluated(content, `${show(path)}, ${counted(lines.length, 'line')}`);
  return {
    what,
    state: 'bad',
    found: `${show(path)} names nobody`,
    hints: ['nobody could approve anything'],
  };
}

/** A too broad allowed-signers line makes anyone it matches an approver. */
function evaluated(text: string, found: string): Check {
  const what = 'approvals: signers';
  const { findings, canApprove } = evaluateSigners(text, new Date());
  const says = [
    ...findings.slice(0, MAX_FINDINGS).map(({ line, says: one }) => `line ${line} ${one}`),
    ...(findings.length > MAX_FINDINGS ? [`and ${findings.length - MAX_FINDINGS} more`] : []),
    ...(canApprove ? [] : ['no line could approve now']),
  ];
  if (says.length === 0) return good(what, found);
  const count = findings.length + (canApprove ? 0 : 1);
  return {
    what,
    state: canApprove ? 'warn' : 'bad',
    found: `${found}; ${counted(count, 'thing')} to look at`,
    hints: [...says, ...(findings.length > 0 || !canApprove ? [EXAMPLE] : [])],
  };
}

const MAX_FINDINGS = 5;
const EXAMPLE = 'for instance: ada@example.com namespaces="lifeboat-approval" ssh-ed25519 AAAA...';

/** Principals, options, the key type, the key. */
const LINE =
  /^(?:"[^"]*"|\S+)\s+(?:(?:[A-Za-z-]+(?:="[^"]*")?)(?:,[A-Za-z-]+(?:="[^"]*")?)*\s+)?(?:ssh|ecdsa|sk-ssh|sk-ecdsa)-[\w@.-]+\s+[A-Za-z0-9+/]+={0,2}(?:\s|$)/;

async function revokedKeys(path: string): Promise<Check> {
  const what = 'approvals: revoked';
  const found = await attempt(what, () => readSigners(path, 'file of revoked keys'));
  return 'check' in found ? found.check : good(what, show(path));
}
