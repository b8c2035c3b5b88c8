import tseslint from 'typescript-eslint';

/**
 * The rules that need types, in a run of their own (`npm run lint:types`): it loads the whole program first, which the other rules, run on a
 * file at each save, need not wait for.
 */
export default tseslint.config(
  { ignores: ['**/dist/', '**/node_modules/', '.nx/', '.strongroom/'] },
  // Directives for the other rules are used in the other run.
  { linterOptions: { reportUnusedDisableDirectives: 'off' } },
  {
    files: ['packages/*/{src,test}/**/*.ts', 'examples/*/{src,test}/**/*.ts'],
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { project: ['./tsconfig.check.json'], tsconfigRootDir: import.meta.dirname },
    },
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unsafe-argument': 'error',
      '@typescript-eslint/no-unsafe-assignment': 'error',
      '@typescript-eslint/no-unsafe-call': 'error',
      '@typescript-eslint/no-unsafe-enum-comparison': 'error',
      '@typescript-eslint/no-unsafe-function-type': 'error',
      '@typescript-eslint/no-unsafe-member-access': 'error',
      '@typescript-eslint/no-unsafe-return': 'error',
      '@typescript-eslint/no-unsafe-unary-minus': 'error',
    },
  },
);
