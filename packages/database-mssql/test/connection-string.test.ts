import { describe, expect, test } from '@jest/globals';
import { connectionSecrets, visibleConnection } from '@strongroom/database-sdk';
import { parseConnectionString } from '../src/connection-string.ts';
import { driverOptions, encryptionOf } from '../src/driver-options.ts';
import { MssqlConnection } from '../src/index.ts';

const values = { username: 'us;er=x', password: `p;a"s's}w{o@r/d` };
const at = (host: string, port?: number, instance?: string) => ({ host, port, instance });

describe('connection_url', () => {
  test.each([
    ['sqlserver://{{username}}:{{password}}@db:1434?database=app', [at('db', 1434)], 'app'],
    ['sqlserver://{{username}}:{{password}}@db/SQLExpress?database=app', [at('db', undefined, 'SQLExpress')], 'app'],
    ['sqlserver://{{username}}:{{password}}@[::1]:1434', [at('::1', 1434)], undefined],
    ['sqlserver://{{username}}:{{password}}@db?failoverpartner=other&failoverport=2', [at('db'), at('other', 2)], undefined],
    ['mssql://db', [at('db')], undefined],
    ['server=db,1434;user id={{username}};password={{password}};database=app', [at('db', 1434)], 'app'],
    ['Data Source=tcp:db,1434;User={{username}};PWD={{password}};Initial Catalog=app;', [at('db', 1434)], 'app'],
    [String.raw`server=db\SQLExpress;uid="{{username}}";password='{{password}}'`, [at('db', undefined, 'SQLExpress')], undefined],
    ['odbc:server=db;port=1434;uid={{username}};pwd={{{password}}}', [at('db', 1434)], undefined],
    ['server=(local);database=app', [at('localhost')], 'app'],
  ])('%s', (template, addresses, database) => {
    expect(parseConnectionString(template, values)).toMatchObject({
      addresses,
      database,
      user: values.username,
      password: values.password,
    });
  });

  test('a user name and password that stand in it win, whatever they hold', () => {
    const found = (text: string) => parseConnectionString(text, values);
    expect(found('sqlserver://m%40e:a%2Fb%3A@db')).toMatchObject({ user: 'm@e', password: 'a/b:' });
    expect(found(`server=db;user id=me;password="a;""b"`)).toMatchObject({ user: 'me', password: 'a;"b' });
    expect(found(`server=db;user id=me;password='a;''b'`)).toMatchObject({ user: 'me', password: `a;'b` });
    expect(found('odbc:server=db;uid=me;pwd={a;}}b=}')).toMatchObject({ user: 'me', password: 'a;}b=' });
  });

  test('disable_escaping takes values as encoded or quoted already', () => {
    const read = (url: string, username: string, password: string) =>
      parseConnectionString(url, { username, password, disable_escaping: true });
    const plain = { user: values.username, password: values.password };
    const url = 'sqlserver://{{username}}:{{password}}@db';
    expect(read(url, encodeURIComponent(values.username), encodeURIComponent(values.password))).toMatchObject(plain);
    const doubled = `"${values.password.replaceAll('"', '""')}"`;
    expect(read('server=db;user id={{username}};password={{password}}', `"${values.username}"`, doubled)).toMatchObject(plain);
    expect(() => read(url, 'u', '100%')).toThrow(/^unable to parse connection url: it must be like sqlserver:.*;database=name$/);
  });

  test.each(['sqlserver://u:%zz@db', 'sqlserver://u:pw@db:1:2', 'nonsense', 'server=a,b,c', '=x'])(
    '%s is refused, and not shown',
    (text) => {
      expect(() => parseConnectionString(text, values)).toThrow(
        /^unable to parse connection url: it must be like sqlserver:.*;database=name$/,
      );
    },
  );

  test('a port must be one', () => {
    expect(() => parseConnectionString('sqlserver://db:70000', values)).toThrow('port');
    expect(() => parseConnectionString('server=db;port=x', values)).toThrow('port');
    expect(() => parseConnectionString(' ', values)).toThrow(/^connection_url cannot be empty$/);
  });

  test.each([
    'sqlserver://u:Sesame-77@db:1433?database=app',
    'sqlserver://u:Sesame%2D77@db',
    'sqlserver://db?user+id=u&password=Sesame-77',
    'server=db;user id=u;password=Sesame-77;database=app',
    'server=db;user id=u;pwd="Sesame-77;x";database=app',
    'odbc:server=db;uid=u;pwd={Sesame-77;}}x}',
    'server=db;user id=u;Password = Sesame-77 x ;encrypt=true',
  ])('no read shows the password of %s, and no message can', (connection_url) => {
    const details = { connection_url, username: 'u', password: 'Open-77-Sesame', contained_db: false };
    const shown = visibleConnection(MssqlConnection, details);
    expect(JSON.stringify(shown)).not.toContain('Sesame');
    expect(shown['connection_url']).toContain('xxxxx');
    expect(Object.values(connectionSecrets(MssqlConnection, details)).join()).toContain('Sesame-77');
  });
});

describe('what the driver is given', () => {
  const options = (text: string, tlsCa?: string) => {
    const target = parseConnectionString(`server=db;${text}`, values);
    return driverOptions(target, target.addresses[0]!, encryptionOf(target.parameters, tlsCa), tlsCa).options;
  };

  test('follows the connection string', () => {
    expect(options('port=5;app name=me;workstation id=here;packet size=8192;dial timeout=3;ApplicationIntent=ReadOnly')).toMatchObject({
      port: 5,
      appName: 'me',
      workstationId: 'here',
      packetSize: 8192,
      connectTimeout: 3000,
      requestTimeout: 0,
      readOnlyIntent: true,
    });
    expect(options('')).toMatchObject({ port: 1433, appName: 'strongroom', connectTimeout: 15_000, readOnlyIntent: false });
    expect(options('database=app;instance=one')).toMatchObject({ database: 'app', instanceName: 'one' });
    expect(() => options('packet size=many')).toThrow('packet size');
    expect(() => options('multisubnetfailover=perhaps')).toThrow('multisubnetfailover');
  });

  test.each([
    ['', { encrypt: true, required: false, trustServerCertificate: true }],
    ['encrypt=false', { encrypt: true, required: false, trustServerCertificate: true }],
    ['encrypt=true', { encrypt: true, required: true, trustServerCertificate: false }],
    ['encrypt=true;TrustServerCertificate=true', { encrypt: true, required: true, trustServerCertificate: true }],
    ['TrustServerCertificate=false', { encrypt: true, required: true, trustServerCertificate: false }],
    ['encrypt=strict', { encrypt: 'strict', required: true, trustServerCertificate: false }],
    ['encrypt=disable', { encrypt: false, required: false, trustServerCertificate: true }],
  ])('encryption by %p', (text, wanted) => {
    expect(encryptionOf(parseConnectionString(`server=db;${text}`, values).parameters, undefined)).toEqual(wanted);
  });

  test('tls_ca insists, and contradicts encrypt=disable', () => {
    expect(encryptionOf(new Map(), 'PEM')).toEqual({ encrypt: true, required: true, trustServerCertificate: false });
    expect(() => encryptionOf(new Map([['encrypt', 'disable']]), 'PEM')).toThrow('encrypt=disable contradicts tls_ca');
    expect(() => encryptionOf(new Map([['encrypt', 'maybe']]), undefined)).toThrow('encrypt in connection_url must be');
  });
});
