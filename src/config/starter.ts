import { stringify } from 'yaml';
import type { InstanceConfig, TokenConfig } from './schema.ts';

export interface StarterInstance {
  readonly name: string;
  readonly url: string;
  readonly revision: InstanceConfig['revision'];
  readonly token: TokenConfig;
  readonly ca?: string | undefined;
}

export interface Starter {
  readonly instances: readonly StarterInstance[];
  /** Where editors find the JSON Schema, relative to the config's folder; without it the file names none. */
  readonly editorSchema?: string | undefined;
  /** Default: the keychain of the machine. */
  readonly keyStore?: 'vault' | undefined;
}

/** A first lifeboat.yaml: known facts, and common settings as comments. It holds no secret. */
export function starterConfig({ instances, editorSchema, keyStore }: Starter): string {
  const directive =
    editorSchema === undefined ? '' : `# yaml-language-server: $schema=${encodeURI(editorSchema)}\n`;
  const keys = `${KEYS}${keyStore === undefined ? '# keyStore: vault' : `keyStore: ${keyStore}`}\n`;
  return `${directive}${HEAD}${keys}
instances:
${instances.map(instanceLines).join('\n')}${REST}`;
}

const HEAD = `# Written by \`lifeboat init\`. \`lifeboat doctor\` checks it; \`lifeboat schema config\` has every key.
# No token, key or password belongs in this file.
`;

const KEYS = `
# Where keys are kept: in the keychain of this machine (os), or in a file under a passphrase (vault).
`;

const REST = `
# Applications are bound again at the platform that the cf tool is logged in to. Other ways: its API, or by hand.
# platform: { api: https://api.example.com }
# platform: none

# Who runs this, for the record. Default: the login name.
# operator: { name: Robin, email: robin@example.com }

# Further places for signed checkpoints: a folder on another machine shows a rollback that this one cannot.
# checkpoints: [/mnt/other-machine/lifeboat]

# How often a drill has to be proven.
# drills: { every: 90d }
`;

function instanceLines({ name, url, revision, token, ca }: StarterInstance): string {
  return `  ${inFlow(name)}:
    url: ${inFlow(url)}
    revision: ${revision}
    token: ${inFlow(token)}
${ca === undefined ? '' : `    ca: ${inFlow(ca)}\n`}    # What recoveries and drills are measured against.
    # objectives: { rto: 30m, rpo: 1h }
    # An instance that is kept to recover into.
    # role: target
`;
}

/** A value on one line, quoted where YAML needs it. */
function inFlow(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim();
}
