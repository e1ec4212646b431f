// The two providers, which share the token of the login.
import { authProvider, dataProvider } from 'ra-data-declarest';

const url: string = import.meta.env['VITE_SHOP_URL'] ?? 'http://localhost:3000/api';

export const shopData = dataProvider(url);
export const shopAuth = authProvider(url);

/** The resource of reviews, whose path names their product. */
export const REVIEWS = 'products/:productId/reviews';
