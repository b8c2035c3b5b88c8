import { describe, expect, test } from '@jest/globals';
import { readJson } from '@strongroom/engine-sdk';
import { claimAt, pointed, pointerProblem } from '../src/json/json-pointer.ts';
import { sameScalar, type Scalar } from '../src/json/json-value.ts';

const scalar = (text: string): Scalar => readJson(text) as Scalar;

describe('scalars of JSON', () => {
  test('numbers are equal exactly where their decimal values are', () => {
    const numbers = [
      '0',
      '-0',
      '0.0',
      '1',
      '1.0',
      '10e-1',
      '0.1e1',
      '-1',
      '100',
      '1e2',
      '1E+2',
      '1e400',
      '10e399',
      '0.30',
      '0.3',
      '12345678901234567890',
      '12345678901234567891',
      '1e-7',
      '0.0000001',
    ];
    const values = ['0', '0', '0', '1', '1', '1', '1', '-1', '100', '100', '100', 'huge', 'huge', '.3', '.3', 'a', 'b', 'small', 'small'];
    for (const [i, a] of numbers.entries()) {
      for (const [j, b] of numbers.entries()) expect([a, b, sameScalar(scalar(a), scalar(b))]).toEqual([a, b, values[i] === values[j]]);
    }
  });

  test('a number that a program wrote equals the one in a text', () => {
    for (const number of [0, 5, -5, 0.1, 1e21, 1e-7, 123456.789, Number.MAX_VALUE, Number.MIN_VALUE]) {
      expect(sameScalar(number, scalar(JSON.stringify(number)))).toBe(true);
      expect(sameScalar(number, scalar(number.toExponential()))).toBe(true);
    }
  });

  test('values of different types are never equal', () => {
    expect(sameScalar('5', 5)).toBe(false);
    expect(sameScalar(true, 'true')).toBe(false);
    expect(sameScalar(true, 1)).toBe(false);
    expect(sameScalar('', 0)).toBe(false);
  });
});

describe('JSON pointers', () => {
  // The examples of RFC 6901.
  const document = { foo: ['bar', 'baz'], '': 0, 'a/b': 1, 'c%d': 2, 'e^f': 3, 'g|h': 4, 'i\\j': 5, 'k"l': 6, ' ': 7, 'm~n': 8 };

  test.each<[string, unknown]>([
    ['', document],
    ['/foo', ['bar', 'baz']],
    ['/foo/0', 'bar'],
    ['/', 0],
    ['/a~1b', 1],
    ['/c%d', 2],
    ['/e^f', 3],
    ['/g|h', 4],
    ['/i\\j', 5],
    ['/k"l', 6],
    ['/ ', 7],
    ['/m~0n', 8],
    ['/foo/2', undefined],
    ['/foo/-', undefined],
    ['/foo/length', undefined],
    ['/foo/0/0', undefined],
    ['/constructor', undefined],
  ])('%j leads to %j', (pointer, value) => expect(pointed(document, pointer)).toEqual(value));

  test('a name without a slash in front is a claim of that name', () => {
    expect(claimAt({ 'a/b': 1, a: { b: 2 } }, 'a/b')).toBe(1);
    expect(claimAt({ 'a/b': 1, a: { b: 2 } }, '/a/b')).toBe(2);
    expect(claimAt({}, '__proto__')).toBeUndefined();
  });

  test('those that are none have a problem', () => {
    expect([pointerProblem('/a~0b~1'), pointerProblem('a'), pointerProblem('/a~2')].map((problem) => problem !== undefined)).toEqual([
      false,
      true,
      true,
    ]);
  });
});
