import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { writeJson } from '@strongroom/engine-sdk/json';
import { parsePairs } from '../src/kv-pairs.ts';
import { cliLab } from './fake-server.ts';
import { envelope, lease, login } from './fixtures/answers.ts';

const lab = cliLab();
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'strongroom-cli-data-'));
  await writeFile(join(folder, 'value.txt'), 'from a file\n');
  await writeFile(join(folder, 'data.json'), '{"n": 5, "big": 9007199254740993, "list": ["x"]}');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const pairs = (words: readonly string[], stdin = '') => parsePairs(words, Readable.from([stdin]));

describe('words of data', () => {
  test('are keys with values, taken as text', async () => {
    expect(await pairs(['a=1', 'b=', 'c=x=y'])).toEqual({ a: '1', b: '', c: 'x=y' });
  });

  test('can come from files and from standard input', async () => {
    expect(await pairs([`a=@${folder}/value.txt`, 'b=-'], 'typed')).toEqual({ a: 'from a file\n', b: 'typed' });
    expect(await pairs([`@${folder}/data.json`, 'z=1'])).toEqual({ n: 5, big: expect.anything(), list: ['x'], z: '1' });
    expect(writeJson(await pairs([`@${folder}/data.json`]))).toBe('{"n":5,"big":9007199254740993,"list":["x"]}');
    expect(await pairs(['-'], '{"deep":{"er":true}}')).toEqual({ deep: { er: true } });
  });

  test('given twice become a list', async () => {
    expect(await pairs(['a=1', 'a=2', 'a=3', 'b=1'])).toEqual({ a: ['1', '2', '3'], b: '1' });
  });

  test('keep a leading @ or a dash that is escaped', async () => {
    expect(await pairs(['a=\\@home', 'b=\\-'])).toEqual({ a: '@home', b: '-' });
  });

  test('are data whatever their name', async () => {
    const data = await pairs(['__proto__=1', 'constructor=2']);
    expect(Object.entries(data)).toEqual([
      ['__proto__', '1'],
      ['constructor', '2'],
    ]);
  });

  test('that are malformed are refused', async () => {
    await expect(pairs(['lonely'])).rejects.toThrow('invalid key/value pair "lonely": format must be key=value');
    await expect(pairs(['=x'])).rejects.toThrow('format must be key=value');
    await expect(pairs(['a=@/nonexistent'])).rejects.toThrow('error reading file');
    await expect(pairs(['-'], 'not json')).rejects.toThrow('standard input is not valid JSON');
    await expect(pairs(['-'], '[1]')).rejects.toThrow('standard input must hold a JSON object');
    await expect(pairs(['a=-', 'b=-'], 'x')).rejects.toThrow('standard input can be used for one value only');
  });
});

describe('read', () => {
  test('prints the lease, then the data in alphabetical order', async () => {
    lab.routes['GET database/creds/readonly'] = { body: lease };
    expect((await lab.run(['read', 'database/creds/readonly'])).stdout).toBe(
      [
        'Key                Value',
        '---                -----',
        'lease_id           database/creds/readonly/ANKx874p5b2Iba5UjawlTO2a',
        'lease_duration     1h',
        'lease_renewable    true',
        'password           generated-1',
        'username           v-token-readonly-1',
        '',
      ].join('\n'),
    );
  });

  test('prints a lifetime without a lease as refresh_interval, and values as Go would', async () => {
    const data = { text: '', nothing: null, list: ['a', 'b'], map: { b: 2, a: true }, max_ttl: 7200, count: 7200 };
    lab.routes['GET kv1/a'] = { body: envelope({ lease_duration: 2764800, data }) };
    expect((await lab.run(['read', 'kv1/a'])).stdout).toBe(
      [
        'Key                 Value',
        '---                 -----',
        'refresh_interval    768h',
        'count               7200',
        'list                [a b]',
        'map.a               true',
        'map.b               2',
        'max_ttl             2h',
        'nothing             <nil>',
        'text                n/a',
        '',
      ].join('\n'),
    );
  });

  test('sends words as query parameters', async () => {
    lab.routes['GET a/b?version=2&tag=x&tag=y'] = { body: envelope({ data: { k: 'v' } }) };
    expect(await lab.run(['read', 'a/b', 'version=2', 'tag=x', 'tag=y'])).toMatchObject({ code: 0 });
  });

  test('exits 2 when nothing is there', async () => {
    expect(await lab.run(['read', 'a/none'])).toEqual({ code: 2, stdout: '', stderr: 'No value found at a/none\n' });
  });

  test('prints the whole envelope as JSON or YAML, and the very text as raw', async () => {
    const text = '{"request_id":"r","lease_id":"","data":{"n":9007199254740993,"f":0.10000000000000001,"z":[],"s":"a\\"b"},"auth":null}\n';
    lab.routes['GET a'] = { text };
    const json = (await lab.run(['read', '-format=json', 'a'])).stdout;
    expect(json).toContain(
      '  "data": {\n    "n": 9007199254740993,\n    "f": 0.10000000000000001,\n    "z": [],\n    "s": "a\\"b"\n  },\n  "auth": null\n}\n',
    );
    expect((await lab.run(['read', '-format=yaml', 'a'])).stdout).toContain('data:\n  n: 9007199254740993\n  f: 0.10000000000000001\n');
    expect((await lab.run(['read', '-field=f', 'a'])).stdout.trim()).toBe('0.10000000000000001');
    expect((await lab.run(['read', 'a'])).stdout).toMatch(/^f +0\.10000000000000001$/m);
    expect((await lab.run(['read', '-format=raw', 'a'])).stdout).toBe(text);
  });

  test('a field is bare, with a newline only for a person', async () => {
    lab.routes['GET a'] = { body: envelope({ data: { s: 'value', o: { b: 1, a: 2 } } }) };
    expect((await lab.run(['read', '-field=s', 'a'])).stdout).toBe('value');
    expect((await lab.run(['read', '-field=s', 'a'], { stdoutIsTty: true })).stdout).toBe('value\n');
    expect((await lab.run(['read', '-field=o', 'a'])).stdout).toBe('map[a:2 b:1]');
    expect((await lab.run(['read', '-field=o', '-format=json', 'a'])).stdout).toBe('{\n  "b": 1,\n  "a": 2\n}');
    expect(await lab.run(['read', '-field=zz', 'a'])).toEqual({ code: 1, stdout: '', stderr: 'Field "zz" not present in secret\n' });
  });

  test('prints warnings to standard error', async () => {
    lab.routes['GET a'] = { body: envelope({ data: { s: '1' }, warnings: ['mind the gap'] }) };
    const { stdout, stderr } = await lab.run(['read', 'a']);
    expect(stdout).not.toContain('mind');
    expect(stderr).toContain('WARNING!');
    expect(stderr).toContain('  * mind the gap');
  });

  test('shows data that comes with a 404', async () => {
    lab.routes['GET a'] = { status: 404, body: envelope({ data: null, warnings: ['wrong path'] }) };
    const { code, stderr } = await lab.run(['read', 'a']);
    expect(code).toBe(0);
    expect(stderr).toContain('wrong path');
  });
});

describe('write, patch and delete', () => {
  test('write uses PUT and confirms an empty answer', async () => {
    lab.routes['PUT cubbyhole/a'] = {};
    expect(await lab.run(['write', 'cubbyhole/a', 'k=v', 'n=-'], { stdin: 'typed' })).toEqual({
      code: 0,
      stdout: 'Success! Data written to: cubbyhole/a\n',
      stderr: '',
    });
    expect(lab.seen[0]).toMatchObject({ method: 'PUT', body: { k: 'v', n: 'typed' } });
  });

  test('write prints an answer that has something to say', async () => {
    lab.routes['PUT auth/userpass/login/a'] = { body: login };
    const { stdout } = await lab.run(['write', 'auth/userpass/login/a', 'password=x']);
    expect(stdout).toContain('token_duration         768h');
    expect(stdout).toContain('token_policies         ["default" "dev"]');
    expect(stdout).toContain('token_meta_username    alice');
  });

  test('write keeps large numbers from a file exact', async () => {
    let sent = '';
    lab.routes['PUT a'] = ({ headers }) => {
      sent = String(headers['content-length']);
      return {};
    };
    await lab.run(['write', 'a', `@${folder}/data.json`]);
    expect(sent).toBe(String('{"n":5,"big":9007199254740993,"list":["x"]}'.length));
  });

  test('write without data needs -force', async () => {
    lab.routes['PUT a'] = {};
    expect(await lab.run(['write', 'a'])).toMatchObject({ code: 1, stderr: 'Must supply data or use -force\n' });
    expect(await lab.run(['write', '-f', 'a'])).toMatchObject({ code: 0 });
    expect(lab.seen).toHaveLength(1);
    expect(lab.seen[0]?.body).toEqual({});
  });

  test('a program that reads the output gets no words in between', async () => {
    lab.routes['PUT a'] = {};
    expect(await lab.run(['write', '-format=json', 'a', 'k=v'])).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test('patch sends a merge patch', async () => {
    lab.routes['PATCH a'] = {};
    expect(await lab.run(['patch', 'a', 'k=v'])).toMatchObject({ code: 0, stdout: 'Success! Data written to: a\n' });
    expect(lab.seen[0]).toMatchObject({ headers: { 'content-type': 'application/merge-patch+json' }, body: { k: 'v' } });
  });

  test('delete confirms, whether something was there or not', async () => {
    lab.routes['DELETE a/b'] = {};
    expect(await lab.run(['delete', 'a/b'])).toEqual({ code: 0, stdout: 'Success! Data deleted (if it existed) at: a/b\n', stderr: '' });
  });
});

describe('list', () => {
  test('prints names under Keys, or as an array', async () => {
    lab.routes['GET a?list=true'] = { body: envelope({ data: { keys: ['x', 'folder/'] } }) };
    expect((await lab.run(['list', 'a/'])).stdout).toBe('Keys\n----\nx\nfolder/\n');
    expect((await lab.run(['list', '-format=json', 'a'])).stdout).toBe('[\n  "x",\n  "folder/"\n]\n');
  });

  test('exits 2 when there are none, saying so in the form asked for', async () => {
    expect(await lab.run(['list', 'a'])).toEqual({ code: 2, stdout: '', stderr: 'No value found at a\n' });
    expect(await lab.run(['list', '-format=json', 'a'])).toEqual({ code: 2, stdout: '{}\n', stderr: '' });
  });
});

describe('scan', () => {
  test('prints the names below a folder', async () => {
    lab.routes['GET a?scan=true'] = { body: envelope({ data: { keys: ['x', 'folder/y'] } }) };
    expect((await lab.run(['scan', 'a'])).stdout).toBe('Keys\n----\nx\nfolder/y\n');
    expect(await lab.run(['scan', 'b'])).toEqual({ code: 2, stdout: '', stderr: 'No value found at b\n' });
  });
});

describe('path-help', () => {
  test('prints the text that the server has about a path', async () => {
    lab.routes['GET database?help=1'] = { body: { help: '## DESCRIPTION\n\nDynamic logins.\n', see_also: null, openapi: {} } };
    expect((await lab.run(['path-help', 'database'])).stdout).toBe('## DESCRIPTION\n\nDynamic logins.\n');
    expect(await lab.run(['path-help', 'nowhere'])).toMatchObject({ code: 2 });
  });
});
