import type { Revision } from './http/endpoint.ts';

/** A lifeboat.yaml for the instances of a lab, ready to be used. */
export function labConfig(facts: {
  readonly origin: string;
  readonly revision: Revision;
  readonly tokenFile: string;
  readonly instances: readonly {
    readonly name: string;
    readonly guid: string;
    /** A source has something to lose, a target has not. */
    readonly role: 'source' | 'target';
    readonly keyFile: string | undefined;
  }[];
}): string {
  const { origin, revision, tokenFile, instances } = facts;
  const entries = instances.map(
    ({ name, guid, role }) => `  ${name}:
    url: ${origin}/service-instances/${guid}
    revision: ${revision}
    token: { file: ${JSON.stringify(tokenFile)} }
    role: ${role}
    objectives: { rto: 5m, rpo: 15m }
    settle: 2s
    rehearsal: true
`,
  );
  const keys = instances.flatMap(({ name, keyFile }) =>
    keyFile === undefined
      ? []
      : `# The backups of ${name} are encrypted with a key in ${keyFile}; to be able to open them:
#   lifeboat keys add ${name} --file ${shellQuoted(keyFile)}
`,
  );
  return `# A lab on this machine; it is gone when the lab ends.
${keys.join('')}instances:
${entries.join('')}`;
}

function shellQuoted(path: string): string {
  return /^[\w./-]+$/u.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
