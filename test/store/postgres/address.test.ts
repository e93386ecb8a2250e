import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findPassword, parseAddress, tlsOf } from '../../../src/store/postgres/address.ts';

describe('the address of a store', () => {
  const parse = (url: string, env: NodeJS.ProcessEnv = { PGUSER: 'me' }) => parseAddress(url, env);

  test('names one server or several, each with its port', () => {
    const { servers } = parse('postgres://a:5433,b,[::1]:6000,10.0.0.7/team?target_session_attrs=read-write');
    expect(servers).toEqual([
      { host: 'a', port: 5433 },
      { host: 'b', port: 5432 },
      { host: '::1', port: 6000 },
      { host: '10.0.0.7', port: 5432 },
    ]);
  });

  test('names a socket by its folder', () => {
    for (const url of [
      'postgres:///team?host=/run/pg&port=6000',
      'postgresql://%2Frun%2Fpg/team?port=6000',
      'postgres://%2Frun%2Fpg:6000/team',
    ])
      expect(parse(url)).toMatchObject({ servers: [{ host: '/run/pg', port: 6000 }], sslmode: 'prefer' });
  });

  test('gives each server its port, and one port to all of them', () => {
    const ports = (url: string, env?: NodeJS.ProcessEnv) => parse(url, env).servers.map(({ port }) => port);
    expect(ports('postgres:///x?host=a,b&port=1,2')).toEqual([1, 2]);
    expect(ports('postgres:///x?host=a,b&port=7')).toEqual([7, 7]);
    expect(ports('postgres://a:1,b/x', { PGUSER: 'me', PGPORT: '9' })).toEqual([1, 5432]);
    expect(ports('postgres://a/x', { PGUSER: 'me', PGPORT: '9' })).toEqual([9]);
    expect(parse('postgres:///x?host=::1').servers).toEqual([{ host: '::1', port: 5432 }]);
  });

  test('goes to hostaddr, and keeps the name for certificate and password', () => {
    expect(parse('postgres://db.example.com,b/x?hostaddr=127.0.0.1,::1')).toMatchObject({
      servers: [
        { host: 'db.example.com', address: '127.0.0.1' },
        { host: 'b', address: '::1' },
      ],
      sslmode: 'prefer',
    });
    const far = parse('postgres://localhost/x', { PGUSER: 'me', PGHOSTADDR: '192.0.2.7' });
    expect(far).toMatchObject({ servers: [{ host: 'localhost', address: '192.0.2.7' }] });
    expect(far.sslmode).toBe('verify-full');
    const server = { host: 'db.example.com', port: 5432, address: '192.0.2.7' };
    expect(tlsOf({ ...far, files: {} }, server)).toMatchObject({ servername: 'db.example.com' });
  });

  test('takes options, channel_binding and passfile', () => {
    const url = 'postgres://a/x?options=-c%20role%3Downer&channel_binding=require&passfile=/my+pass';
    expect(parse(url)).toMatchObject({
      options: '-c role=owner',
      channelBinding: 'require',
      passfile: '/my+pass',
    });
    const env = { PGUSER: 'me', PGOPTIONS: '-c a=b', PGCHANNELBINDING: 'disable' };
    expect(parse('postgres://a/x', env)).toMatchObject({ options: '-c a=b', channelBinding: 'disable' });
    expect(parse('postgres://a/x').channelBinding).toBe('prefer');
  });

  test('takes certificates from ~/.postgresql if it names none', () => {
    const HOME = mkdtempSync(join(tmpdir(), 'home-'));
    onTestFinished(() => rmSync(HOME, { recursive: true }));
    const kept = (name: string) => join(HOME, '.postgresql', name);
    expect(parse('postgres://a/x', { PGUSER: 'me', HOME }).files).toEqual({});
    mkdirSync(join(HOME, '.postgresql'));
    for (const name of ['root.crt', 'root.crl', 'postgresql.crt', 'postgresql.key'])
      writeFileSync(kept(name), '');
    expect(parse('postgres://a/x', { PGUSER: 'me', HOME }).files).toEqual({
      rootcert: kept('root.crt'),
      crl: kept('root.crl'),
      cert: kept('postgresql.crt'),
      key: kept('postgresql.key'),
    });
    const system = parse('postgres://a/x?sslrootcert=system', { PGUSER: 'me', HOME });
    expect(system.files.rootcert).toBe('system');
  });

  test.each(['PGSERVICE', 'PGREQUIREAUTH'])('is refused with %s set, which is not supported', (name) => {
    expect(() => parse('postgres://a/x', { PGUSER: 'me', [name]: 'x' })).toThrow(`the variable ${name}`);
  });

  test("takes missing parts from libpq's variables", () => {
    expect(parse('postgres://a', { PGUSER: 'zoe', PGCONNECT_TIMEOUT: '3' })).toMatchObject({
      user: 'zoe',
      database: 'zoe',
      connectTimeout: 3_000,
    });
    expect(parse('postgres://b%40c@a/x%2Fy', { PGUSER: 'zoe' })).toMatchObject({
      user: 'b@c',
      database: 'x/y',
    });
    const env = { PGSSLMODE: 'require', PGSSLROOTCERT: '/ca', PGSSLCERT: '/c', PGSSLKEY: '/k' };
    expect(parse('postgres://a/x', env)).toMatchObject({
      sslmode: 'require',
      files: { rootcert: '/ca', cert: '/c', key: '/k' },
    });
  });

  test('requires another machine to prove its identity, unless it says otherwise', () => {
    expect(parse('postgres://db.example.com/x').sslmode).toBe('verify-full');
    expect(parse('postgres://localhost,127.0.0.3,[::1]/x').sslmode).toBe('prefer');
    expect(parse('postgres://localhost,db.example.com/x').sslmode).toBe('verify-full');
    expect(parse('postgres://db.example.com/x?sslmode=disable').sslmode).toBe('disable');
  });

  test.each([
    'postgres://zoe:hunter22@a/x',
    'postgres://a/x?password=hunter22',
    'postgres://zoe@a/x?sslpassword=hunter22',
  ])('may hold no password, and an address that does is not repeated: %s', (url) => {
    let thrown: unknown;
    try {
      parse(url);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: 'config.store', exitCode: 2 });
    expect(JSON.stringify([thrown, String(thrown)])).not.toContain('hunter22');
    expect(JSON.stringify(thrown)).toContain('~/.pgpass');
  });

  test.each([
    ['mysql://a/x', 'does not look like'],
    ['postgres:///x', 'no server'],
    ['postgres://a:0/x', 'port'],
    ['postgres://a:99999/x', 'port'],
    ['postgres://a/x?sslmode=maybe', 'sslmode is one of'],
    ['postgres://a/x?target_session_attrs=standby', 'read-write only'],
    ['postgres://a/x?service=team', 'service is a setting of libpq'],
    ['postgres://a/x?require_auth=none', 'require_auth is a setting of libpq'],
    ['postgres://a/x?colour=red', 'an unknown setting: colour'],
    ['postgres://a/x?hostaddr=b.example.com', 'hostaddr is an IP address'],
    ['postgres://a,b/x?hostaddr=127.0.0.1', 'as many'],
    ['postgres://a,b,c/x?port=1,2', 'as many'],
    ['postgres:///x?host=a:5433', 'port'],
    ['postgres://a/x?channel_binding=maybe', 'channel_binding is one of'],
    ['postgres://a/%zz', '%25'],
  ])('%s is refused, with the reason', (url, why) => {
    expect(() => parse(url)).toThrow(why);
  });
});

describe('the password', () => {
  const address = { user: 'zoe', database: 'team' };
  const server = { host: 'db.example.com', port: 5432 };

  function passwordFile(text: string, mode = 0o600): string {
    const folder = mkdtempSync(join(tmpdir(), 'pgpass-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, '.pgpass'), text);
    chmodSync(join(folder, '.pgpass'), mode);
    return folder;
  }
  const found = (env: NodeJS.ProcessEnv, at = server) => {
    const password = findPassword(address, at, env);
    return 'secret' in password ? password.secret.reveal() : password.why;
  };

  test('is that of PGPASSWORD, else of the first matching line of the password file', () => {
    const HOME = passwordFile(
      ['# a comment', 'db.example.com:5433:*:*:other port', '*:*:team:zoe:a\\:b\\\\c', '*:*:*:*:late'].join(
        '\n',
      ),
    );
    expect(found({ HOME })).toBe('a:b\\c');
    expect(found({ HOME, PGPASSWORD: 'first' })).toBe('first');
    expect(found({ HOME }, { host: 'db.example.com', port: 5433 })).toBe('other port');
    expect(found({ HOME: '/nowhere', PGPASSFILE: join(HOME, '.pgpass') })).toBe('a:b\\c');
  });

  test('of a socket is in the line of its folder, that of the default socket in the line of localhost', () => {
    const HOME = passwordFile('localhost:5432:team:zoe:near\n/run/pg:5432:team:zoe:own folder\n');
    expect(found({ HOME }, { host: '/run/pg', port: 5432 })).toBe('own folder');
    for (const host of ['/tmp', '/var/run/postgresql'])
      expect(found({ HOME }, { host, port: 5432 })).toBe('near');
    expect(found({ HOME }, { host: '/run/other', port: 5432 })).toMatch(/^no line of .*pgpass fits$/u);
    expect(found({ HOME })).toMatch(/^no line of .*pgpass fits$/u);
  });

  test('comes first from the file that passfile names', () => {
    const HOME = passwordFile('*:*:*:*:home');
    const passfile = join(passwordFile('*:*:*:*:named'), '.pgpass');
    const password = findPassword({ ...address, passfile }, server, { HOME, PGPASSFILE: '/nowhere' });
    expect('secret' in password && password.secret.reveal()).toBe('named');
  });

  test('is not read from a file that others can read, with the reason', () => {
    expect(found({ HOME: passwordFile('*:*:*:*:x', 0o640) })).toMatch(
      /^others can read .*pgpass: `chmod 600` it$/u,
    );
    expect(found({ HOME: '/nowhere' })).toBe('there is no /nowhere/.pgpass');
  });
});
