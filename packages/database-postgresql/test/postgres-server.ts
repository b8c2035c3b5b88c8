export * from '@strongroom/lab';
