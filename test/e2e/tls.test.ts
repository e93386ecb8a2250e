import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { installCf } from '../bench-kit/install-cf.ts';
import { runProduct } from '../bench-kit/product.ts';
import { itemsIn } from '../bench-kit/results.ts';
import { useBenches } from '../bench-kit/test-bench.ts';
import { type Certificates, makeCertificates } from '../faults/certificates.ts';
import { json, startFaultServer } from '../service/fault-server.ts';

describe.concurrent('an environment that switches certificate checks off', () => {
  const bench = useBenches();
  let certificates: Certificates;
  beforeAll(() => {
    certificates = makeCertificates();
  });
  afterAll(() => certificates?.remove());

  /** A service and a platform with an unknown certificate, and a config that names them. */
  async function impostor(context: Parameters<typeof bench>[0], revision: string) {
    const { product, folder, env } = await bench(context);
    const server = await startFaultServer(
      (_, socket) => socket.write(json(200, { id: 5 })),
      certificates.unknownCa,
    );
    context.onTestFinished(server.close);
    const config = join(folder, 'impostor.yaml');
    const token = '{ file: ./token }';
    const url = `${server.origin}/service-instances/i1`;
    writeFileSync(
      config,
      `platform: { api: "${server.origin}", token: ${token} }
instances: { orders: { url: "${url}", revision: ${revision}, token: ${token} } }
`,
    );
    const run = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
      runProduct(product, args, {
        ...env,
        NODE_TLS_REJECT_UNAUTHORIZED: '0',
        ...more,
        LIFEBOAT_CONFIG: config,
      }).ended;
    return { server, run, folder };
  }

  test.for([
    ['a read', '62', 'backups', 'list'],
    ['a call that changes something', '62', 'backups', 'create'],
    ['the old interface', 'v0', 'backups', 'list'],
    ['a request for the revision', 'auto', 'backups', 'list'],
  ])(
    '%s sends no byte to a server that no authority vouches for',
    async ([, revision = '', ...args], context) => {
      const { expect } = context;
      const { server, run } = await impostor(context, revision);
      const { code, stderr } = await run([...args, '--instance', 'orders']);
      expect(code, stderr).toBe(1);
      expect(stderr).toContain('no trusted TLS connection to the service');
      expect(stderr).toContain('NODE_TLS_REJECT_UNAUTHORIZED=0 is not obeyed');
      expect(stderr).not.toContain('Warning');
      expect(server.bytes()).toBe(0);
    },
  );

  test('a download sends no byte either', async (context) => {
    const { expect } = context;
    const { server, run, folder } = await impostor(context, '62');
    const out = join(folder, 'download');
    const { code } = await run(['backups', 'download', '3', '--instance', 'orders', '--out', out]);
    expect(code).toBe(1);
    expect(server.bytes()).toBe(0);
  });

  test('is reported by doctor, which sends nothing to the service or the platform either', async (context) => {
    const { expect } = context;
    const { server, run } = await impostor(context, '62');
    const { code, stdout } = await run(['doctor', '--json']);
    const checks = itemsIn<{ what: string; state: string; found: string }>(stdout);
    const of = (what: string) => checks.filter((check) => check.what === what);
    expect(code).toBe(1);
    expect(of('tls')).toMatchObject([
      {
        state: 'bad',
        found:
          'NODE_TLS_REJECT_UNAUTHORIZED=0 is set; lifeboat does not obey it and checks every certificate',
      },
    ]);
    for (const what of ['orders: service', 'platform']) expect(of(what)).toMatchObject([{ state: 'bad' }]);
    expect(server.bytes()).toBe(0);
  });

  test('with other variables that change TLS has them reported by doctor', async (context) => {
    const { expect } = context;
    const { run } = await impostor(context, '62');
    const { stdout } = await run(['doctor', '--json'], {
      NODE_TLS_REJECT_UNAUTHORIZED: '1',
      NODE_OPTIONS: '--use-openssl-ca --tls-keylog=/dev/null',
      SSLKEYLOGFILE: '/dev/null',
      NODE_EXTRA_CA_CERTS: '/dev/null',
      SSL_CERT_FILE: '/dev/null',
    });
    const checks = itemsIn<{ what: string; state: string }>(stdout).filter(({ what }) => what === 'tls');
    expect(checks.map(({ state }) => state)).toEqual(['warn', 'warn', 'bad', 'warn']);
    for (const name of ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', '--tls-keylog', 'SSLKEYLOGFILE'])
      expect(JSON.stringify(checks)).toContain(name);
  });
});

describe('the certificate authorities of the system', () => {
  const bench = useBenches();

  test('let a platform with the login of the cf tool be called if one vouches for it, and only then', async (context) => {
    const { expect, onTestFinished } = context;
    const { product, folder, env, tokenFile, server: service } = await bench(context);
    const { caFile, good, remove } = makeCertificates();
    onTestFinished(remove);
    const platform = await startFaultServer((_, socket) => socket.write(json(403, {})), good);
    onTestFinished(platform.close);
    const { bin } = installCf(folder, { Target: platform.origin, AccessToken: 'bearer tok-8d2f61ac90' });
    const config = join(folder, 'by-cf.yaml');
    const orders = `{ url: "${service.urlOf('orders')}", revision: 62, token: { file: ${tokenFile} } }`;
    writeFileSync(config, `platform: cf\ninstances: { orders: ${orders} }\n`);
    const PATH = `${bin}:${process.env['PATH']}`;
    const doctor = (more: Readonly<Record<string, string>>) =>
      runProduct(product, ['doctor'], { ...env, PATH, LIFEBOAT_CONFIG: config, ...more }).ended;
    await doctor({});
    expect(platform.bytes()).toBe(0);
    const { stdout } = await doctor({ SSL_CERT_FILE: caFile });
    expect(platform.bytes(), stdout).toBeGreaterThan(0);
  });
});
