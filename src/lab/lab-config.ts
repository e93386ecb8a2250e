import type { Revision } from './http/endpoint.ts';

/** A lifeboat.yaml for both instances of a lab, ready to be used. */
export function labConfig(facts: {
  readonly origin: string;
  readonly revision: Revision;
  readonly tokenFile: string;
  readonly keyFile: string;
  readonly source: { readonly name: string; readonly guid: string };
  readonly target: { readonly name: string; readonly guid: string };
}): string {
  const { origin, revision, tokenFile, keyFile, source, target } = facts;
  const instance = ({ name, guid }: { name: string; guid: string }, role: string) => `  ${name}:
    url: ${origin}/service-instances/${guid}
    revision: ${revision}
    token: { file: ${JSON.stringify(tokenFile)} }
    role: ${role}
    objectives: { rto: 5m, rpo: 15m }
    settle: 2s
    rehearsal: true
`;
  return `# A lab on this machine; it is gone when the lab ends.
# The backups of ${source.name} are encrypted with a key in ${keyFile}; to be able to open them:
#   lifeboat keys add ${source.name} --file ${shellQuoted(keyFile)}
instances:
${instance(source, 'source')}${instance(target, 'target')}`;
}

function shellQuoted(path: string): string {
  return /^[\w./-]+$/u.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
