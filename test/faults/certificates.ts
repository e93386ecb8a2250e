import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a server shows of itself, in PEM. */
export interface Identity {
  readonly key: string;
  readonly cert: string;
}

export interface Certificates {
  /** The file that a client is given to trust. */
  readonly caFile: string;
  readonly good: Identity;
  readonly expired: Identity;
  /** Good for another host only. */
  readonly wrongHost: Identity;
  /** By an unknown authority. */
  readonly unknownCa: Identity;
  remove(): void;
}

/** Makes an authority and what it has signed, with `openssl`; gone with `remove`. */
export function makeCertificates(): Certificates {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-certificates-'));
  const at = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const authority = (name: string) => {
    writeFileSync(at(`${name}.txt`), '');
    writeFileSync(at(`${name}.srl`), '01\n');
    writeFileSync(at(`${name}.cnf`), configOf(folder, name));
    const about = ['-subj', `/CN=${name}`, '-addext', 'basicConstraints=critical,CA:TRUE', '-days', '3'];
    openssl('req', '-x509', ...NEW_KEY, '-keyout', `${name}.key`, '-out', `${name}.crt`, ...about);
  };
  const signed = (by: string, name: string, host: string, ...dates: string[]): Identity => {
    openssl('req', ...NEW_KEY, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
    writeFileSync(at(`${name}.ext`), `subjectAltName=${host}\n`);
    const paths = ['-in', `${name}.csr`, '-out', `${name}.crt`, '-extfile', `${name}.ext`];
    openssl('ca', '-batch', '-notext', '-config', `${by}.cnf`, ...paths, ...dates);
    return { key: readFileSync(at(`${name}.key`), 'utf8'), cert: readFileSync(at(`${name}.crt`), 'utf8') };
  };
  authority('known');
  authority('unknown');
  return {
    caFile: at('known.crt'),
    good: signed('known', 'good', 'IP:127.0.0.1', '-days', '3'),
    expired: signed(
      'known',
      'expired',
      'IP:127.0.0.1',
      ...['-startdate', '20200101000000Z'],
      '-enddate',
      '20200201000000Z',
    ),
    wrongHost: signed('known', 'elsewhere', 'DNS:elsewhere.example', '-days', '3'),
    unknownCa: signed('unknown', 'foreign', 'IP:127.0.0.1', '-days', '3'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'] as const;

function configOf(folder: string, name: string): string {
  return `[ca]
default_ca = this
[this]
dir = ${folder}
database = $dir/${name}.txt
serial = $dir/${name}.srl
new_certs_dir = $dir
certificate = $dir/${name}.crt
private_key = $dir/${name}.key
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
`;
}
