import { describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';
import {
  connectionSecrets,
  connectionUrlPasswords,
  connectionUrlSecrets,
  maskConnectionUrl,
  renderConnectionUrl,
  secretFields,
  sqlConnectionFields,
  visibleConnection,
} from '../src/index.ts';

describe('maskConnectionUrl hides the password', () => {
  test.each([
    ['postgresql://u:geheim@h:5432/db?sslmode=disable', 'postgresql://u:xxxxx@h:5432/db?sslmode=disable'],
    ['postgres://u:ge/he@im?@h1,h2/db', 'postgres://u:xxxxx@h1,h2/db'],
    ['postgresql://h/db?user=u&password=geheim&sslmode=require', 'postgresql://h/db?user=u&password=xxxxx&sslmode=require'],
    ['host=h user=u password=geheim dbname=d', 'host=h user=u password=xxxxx dbname=d'],
    [`host=h password = 'ge \\' heim' dbname=d`, 'host=h password = xxxxx dbname=d'],
    ['host=h password=ge\\ heim dbname=d', 'host=h password=xxxxx dbname=d'],
    ['u:geheim@tcp(h:3306)/', 'u:xxxxx@tcp(h:3306)/'],
    ['u:ge@he:im/@tcp(h1:3306,h2:3306)/db?tls=true', 'u:xxxxx@tcp(h1:3306,h2:3306)/db?tls=true'],
    ['u:geheim@unix(/tmp/s.sock)/db', 'u:xxxxx@unix(/tmp/s.sock)/db'],
    ['u:geheim@/db', 'u:xxxxx@/db'],
    ['sqlserver://sa:geheim@h:1433?database=x', 'sqlserver://sa:xxxxx@h:1433?database=x'],
    ['sqlserver://h:1433?user id=sa&password=geheim', 'sqlserver://h:1433?user id=sa&password=xxxxx'],
    ['Server=h,1433;User ID=sa;Password=ge heim;Encrypt=true', 'Server=h,1433;User ID=sa;Password=xxxxx;Encrypt=true'],
    ['Server=h;PWD={ge;he}}im};Encrypt=true', 'Server=h;PWD=xxxxx;Encrypt=true'],
    ['Server=h;Password="ge;heim";Encrypt=true', 'Server=h;Password=xxxxx;Encrypt=true'],
    ['mongodb+srv://u:geheim@h/admin', 'mongodb+srv://u:xxxxx@h/admin'],
    ['redis://:geheim@h:6379/0', 'redis://:xxxxx@h:6379/0'],
    ['u/geheim@h:1521/svc', 'u/xxxxx@h:1521/svc'],
    ['jdbc:oracle:thin:u/geheim@//h:1521/svc', 'jdbc:xxxxx@//h:1521/svc'],
    ['https://h:8086/?org=o&api_key=geheim', 'https://h:8086/?org=o&api_key=xxxxx'],
    ['jdbc:sqlserver://h;user=sa;password=geheim;', 'jdbc:sqlserver://h;user=sa;password=xxxxx;'],
    ['mongodb://h/?tls=true&tlsCertificateKeyFilePassword=geheim&w=1', 'mongodb://h/?tls=true&tlsCertificateKeyFilePassword=xxxxx&w=1'],
    ['jdbc:mysql://h/db?trustCertificateKeyStorePassword=geheim', 'jdbc:mysql://h/db?trustCertificateKeyStorePassword=xxxxx'],
    ['https://h/?client-secret=geheim&sessionToken=geheim2', 'https://h/?client-secret=xxxxx&sessionToken=xxxxx'],
    ['Server=h;Key Passphrase=ge heim;Encrypt=true', 'Server=h;Key Passphrase=xxxxx;Encrypt=true'],
    [
      'mongodb://h/?authMechanismProperties=AWS_SESSION_TOKEN:geheim,SERVICE_NAME:x&w=1',
      'mongodb://h/?authMechanismProperties=AWS_SESSION_TOKEN:xxxxx,SERVICE_NAME:x&w=1',
    ],
    [
      'mongodb://h/?authMechanismProperties=aws_session_token%3Ageheim%3D%3D',
      'mongodb://h/?authMechanismProperties=aws_session_token%3Axxxxx',
    ],
  ])('in %s', (url, masked) => {
    expect(maskConnectionUrl(url)).toBe(masked);
    expect(connectionUrlSecrets(url)).toHaveLength(new Set(connectionUrlSecrets(url)).size);
    expect(connectionUrlSecrets(url).length).toBeGreaterThan(0);
  });

  test.each([
    'postgresql://{{username}}:{{password}}@h:5432/db',
    '{{username}}:{{password}}@tcp(h:3306)/',
    'host=h user={{username}} password={{password}}',
    `host=h user='{{username}}' password='{{password}}' dbname=d`,
    'Server=h;User ID={{username}};Password={{password}};Encrypt=true',
    'postgresql://u@h/db',
    'host=h dbname=d',
    'tcp(h:3306)/db',
  ])('and leaves %s alone', (url) => {
    expect(maskConnectionUrl(url)).toBe(url);
    expect(connectionUrlSecrets(url)).toEqual([]);
  });
});

describe('connectionUrlPasswords tells the password of the login from other secrets', () => {
  test.each([
    ['mongodb://u:geheim@h/?tlsCertificateKeyFilePassword=other', ['geheim']],
    ['mongodb://{{username}}:{{password}}@h/?tlsCertificateKeyFilePassword=other', []],
    ['mongodb://{{username}}:{{password}}@h/?authMechanismProperties=AWS_SESSION_TOKEN:other', []],
    ['host=h password=geheim sslpassword=geheim', ['geheim']],
  ])('in %s', (url, passwords) => {
    expect(connectionUrlPasswords(url)).toEqual(passwords);
  });
});

describe('renderConnectionUrl', () => {
  const values = { username: 'a@b', password: `p'w/ %\\` };

  test('escapes as the form of the string needs', () => {
    expect(renderConnectionUrl('postgresql://{{username}}:{{password}}@h/', values)).toBe('postgresql://a%40b:p%27w%2F%20%25%5C@h/');
    expect(renderConnectionUrl(`user={{username}} password={{password}} host=h`, values)).toBe(`user=a@b password='p\\'w/ %\\\\' host=h`);
    expect(renderConnectionUrl(`user='{{name}}' password='{{password}}'`, values)).toBe(`user='a@b' password='p\\'w/ %\\\\'`);
    expect(renderConnectionUrl('{{username}}:{{password}}@tcp(h:1)/', values)).toBe(`a@b:p'w/ %\\@tcp(h:1)/`);
  });

  test('with disableEscaping puts values in as they are', () => {
    expect(renderConnectionUrl('postgresql://{{username}}@h/', { username: 'a%40b' }, { disableEscaping: true })).toBe(
      'postgresql://a%40b@h/',
    );
  });
});

describe('what of a connection is shown', () => {
  const schema = Type.Object({ ...sqlConnectionFields, tls_key: Type.Optional(Type.String({ secret: true })) });
  const details = {
    connection_url: 'postgresql://u:geheim@h/',
    password: 'root-geheim',
    tls_key: 'PEM',
    max_open_connections: 4,
    foo: 'bar',
    other_password: 'x',
    extra_url: 'mysql://u:geheim@h/',
    replicas: ['postgresql://u:geheim@h1/', { url: 'u:geheim@tcp(h2:1)/', password: 'geheim', weight: 2 }],
  };

  test('secret fields are left out, and connection strings masked, in unknown fields too, at any depth', () => {
    expect(secretFields(schema)).toEqual(['password', 'tls_key']);
    expect(visibleConnection(schema, details)).toEqual({
      connection_url: 'postgresql://u:xxxxx@h/',
      max_open_connections: 4,
      foo: 'bar',
      extra_url: 'mysql://u:xxxxx@h/',
      replicas: ['postgresql://u:xxxxx@h1/', { url: 'u:xxxxx@tcp(h2:1)/', weight: 2 }],
    });
  });

  test('without the schema that knows them, every key is left out, and what was known to be a secret, and private keys under any name', () => {
    const known = {
      host: 'h',
      ssh_key: 'geheim',
      tlsCertificateKey: 'geheim',
      pin: 'geheim',
      ca: '-----BEGIN CERTIFICATE-----',
      bundle: '-----BEGIN RSA PRIVATE KEY-----geheim',
      hosts: [{ name: 'h1', signing_key: 'geheim' }, 'x -----BEGIN PRIVATE KEY----- geheim'],
    };
    expect(visibleConnection(Type.Object({}), known, ['pin'])).toEqual({
      host: 'h',
      ca: '-----BEGIN CERTIFICATE-----',
      hosts: [{ name: 'h1' }],
    });
  });

  test('what another schema held for a secret stays one, also where this one has a field of that name', () => {
    const other = Type.Object({ pin: Type.String(), keyspace: Type.String() });
    expect(visibleConnection(other, { pin: 'geheim', keyspace: 'app' }, ['pin'])).toEqual({ keyspace: 'app' });
  });

  test('connectionSecrets finds them for redaction', () => {
    expect(connectionSecrets(schema, details)).toEqual({ password: 'root-geheim', tls_key: 'PEM', 'connection_url password': 'geheim' });
  });
});
