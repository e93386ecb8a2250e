import { shellQuoted } from '../base/shell-quote.ts';
import type { Revision } from './http/endpoint.ts';

/** A lifeboat.yaml for the instances of a lab, ready to be used. */
export function labConfig(facts: {
  readonly origin: string;
  readonly revision: Revision;
  readonly tokenFile: string;
  /** Router timeout in milliseconds; undefined uses the platform's default. */
  readonly routerMs: number | undefined;
  /** Org and space of the applications; undefined without a platform. */
  readonly platform: { readonly org: string; readonly space: string } | undefined;
  readonly instances: readonly {
    readonly name: string;
    readonly guid: string;
    /** A source has data to lose; a target has none. */
    readonly role: 'source' | 'target';
    readonly keyFile: string | undefined;
    /** Names of the applications that are bound to it. */
    readonly apps: readonly string[];
    /** A shell command that prints its newest order and the number of orders. */
    readonly query: string | undefined;
  }[];
}): string {
  const { origin, revision, tokenFile, routerMs, platform, instances } = facts;
  const token = `{ file: ${JSON.stringify(tokenFile)} }`;
  const entries = instances.map(
    ({ name, guid, role, apps, query }) => `  ${name}:
    url: ${origin}/service-instances/${guid}
    revision: ${revision}
    token: ${token}
    role: ${role}
    objectives: { rto: 5m, rpo: 15m }
    inFlight: 2s
${routerMs === undefined ? '' : `    router: ${routerMs / 1000}s\n`}    rehearsal: true
${[...appLines(apps, platform), ...queryLine(query)].join('')}`,
  );
  const keys = instances.flatMap(({ name, keyFile }) =>
    keyFile === undefined
      ? []
      : `# The backups of ${name} are encrypted with a key in ${keyFile}; to be able to open them:
#   lifeboat keys add ${name} --file ${shellQuoted(keyFile)}
`,
  );
  return `# A lab on this machine; it is gone when the lab ends.
${keys.join('')}platform: ${platform === undefined ? 'none' : `{ api: '${origin}', token: ${token} }`}
lab: { url: '${origin}', token: ${token} }
instances:
${entries.join('')}`;
}

function appLines(
  apps: readonly string[],
  platform: { readonly org: string; readonly space: string } | undefined,
): readonly string[] {
  // The lab knows that nothing is bound, so a recovery need not ask.
  if (platform === undefined || apps.length === 0) return ['    apps: []\n'];
  const { org, space } = platform;
  return ['    apps:\n', ...apps.map((name) => `      - { name: ${name}, space: ${space}, org: ${org} }\n`)];
}

function queryLine(command: string | undefined): readonly string[] {
  return command === undefined ? [] : [`    reconcile: { command: ${JSON.stringify(command)} }\n`];
}
