import { Type } from 'class-transformer';
import { IsBoolean, IsInt, IsNumber, IsOptional, IsString, Max, MaxLength, Min, MinLength } from 'class-validator';

export class ProductDto {
  @IsString()
  @MaxLength(120)
  name!: string;

  @IsString()
  description!: string;

  @IsNumber()
  price!: number;

  @IsInt()
  stock!: number;

  @IsBoolean()
  active!: boolean;
}

export class PageDto {
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  page = 1;

  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(100)
  size = 20;
}

export class SearchDto extends PageDto {
  @IsString()
  @MinLength(1)
  name!: string;
}
