import { describe, expect, test } from '@jest/globals';
import { readArguments } from '../src/arguments.ts';

describe('the words of the server command', () => {
  test('take one dash or two, with or without an equals sign', () => {
    const words = ['-config=a.hcl', '--config', 'b', '-dev', '-dev-root-token-id=root', '--log-level=debug', '-dev-listen-address=:1'];
    expect(readArguments(words)).toEqual({
      config: ['a.hcl', 'b'],
      dev: true,
      devRootToken: 'root',
      devListenAddress: ':1',
      logLevel: 'debug',
    });
    expect(readArguments(['-dev=false'])).toEqual({ config: [], dev: false });
  });

  test('are complained about all at once', () => {
    expect(() => readArguments(['-confg=a', 'word', '-dev-root-token-id=x'])).toThrow(
      'unknown flag -confg; did you mean -config?\nunexpected argument "word"\n-dev-root-token-id is for development: add -dev',
    );
    expect(() => readArguments(['-config='])).toThrow('-config needs a value');
    expect(() => readArguments(['-dev', '-dev-root-token-id=a b'])).toThrow('printable ASCII without blanks');
  });
});
