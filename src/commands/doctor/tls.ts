import { show } from '../../base/text.ts';
import { askedForUncheckedTls, UNCHECKED_TLS } from '../../service/tls.ts';
import { type Check, good } from './check.ts';

const TLS = 'tls';

/**
 * How the environment changes TLS connections of this process and of the programs that it starts. Only reads.
 */
export function tlsChecks(env: NodeJS.ProcessEnv, execArgv: readonly string[] = process.execArgv): Check[] {
  const flags = [...(env['NODE_OPTIONS'] ?? '').split(/\s+/u), ...execArgv];
  const found = [unchecked(), ...authorities(env, flags), ...keyLogs(env, flags)].filter(
    (check) => check !== undefined,
  );
  if (found.length > 0) return found;
  return [good(TLS, 'certificates are checked, against the authorities that come with Node')];
}

function unchecked(): Check | undefined {
  if (!askedForUncheckedTls) return undefined;
  return {
    what: TLS,
    state: 'bad',
    found: `${UNCHECKED_TLS}=0 is set; lifeboat does not obey it and checks every certificate`,
    hints: [
      `unset ${UNCHECKED_TLS}: other programs obey it, and send tokens to whoever answers`,
      'to trust an authority of your company, name its file as `ca` of the instance',
    ],
  };
}

/** An extra authority lets the holder of its key read every token. */
function authorities(env: NodeJS.ProcessEnv, flags: readonly string[]): Check[] {
  const file = env['NODE_EXTRA_CA_CERTS'];
  const openssl = flags.includes('--use-openssl-ca');
  const system = flags.includes('--use-system-ca') || env['NODE_USE_SYSTEM_CA'] === '1';
  const places = ['SSL_CERT_FILE', 'SSL_CERT_DIR'].flatMap((name) =>
    env[name] ? [`${name}=${show(env[name], 200)}`] : [],
  );
  return [
    ...(file ? [warning(`NODE_EXTRA_CA_CERTS: the authorities in ${show(file, 200)} are trusted too`)] : []),
    ...(openssl
      ? [warning(['--use-openssl-ca: the authorities of OpenSSL are trusted', ...places].join(', '))]
      : []),
    ...(system ? [warning('the authorities of the system are trusted too (--use-system-ca)')] : []),
  ];
}

/** With the logged connection keys, recorded traffic can be decrypted. */
function keyLogs(env: NodeJS.ProcessEnv, flags: readonly string[]): Check[] {
  const file = env['SSLKEYLOGFILE'];
  const isLogged = flags.some((flag) => /^--tls-keylog(?:=|$)/u.test(flag));
  return [
    ...(isLogged
      ? [
          {
            what: TLS,
            state: 'bad' as const,
            found: '--tls-keylog is set: Node writes the keys of every connection to a file',
            hints: ['unset it (NODE_OPTIONS), and remove the file: tokens can be read with it'],
          },
        ]
      : []),
    ...(file
      ? [
          warning(
            `SSLKEYLOGFILE=${show(file, 200)}: ` +
              'curl and others write the keys of their connections there; lifeboat does not',
          ),
        ]
      : []),
  ];
}

function warning(found: string): Check {
  return { what: TLS, state: 'warn', found, hints: [] };
}
