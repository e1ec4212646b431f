import type { DataSource } from 'typeorm';

const DRIVERS: readonly string[] = [
  'better-sqlite3',
  'sqlite',
  'sqljs',
  'libsql',
  'expo',
  'capacitor',
  'cordova',
  'react-native',
  'nativescript',
];

/** Whether a data source is SQLite, whatever the driver. */
export const isSqlite = ({ options }: DataSource): boolean => DRIVERS.includes(options.type);
