import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsDate,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  MaxLength,
  ValidateNested,
} from 'class-validator';
import { PageDto } from './product.dto.js';

export class ArticleDto {
  @IsString()
  @MaxLength(120)
  title!: string;

  @IsString()
  @MaxLength(20)
  status!: string;

  @IsInt()
  views!: number;

  @Type(() => Date)
  @IsDate()
  publishedAt!: Date;

  @IsInt()
  ownerId!: number;

  @IsInt()
  authorId!: number;
}

export class ArticleChangesDto {
  @IsOptional()
  @IsString()
  @MaxLength(120)
  title?: string;

  @IsOptional()
  @IsString()
  @MaxLength(20)
  status?: string;

  @IsOptional()
  @IsInt()
  views?: number;
}

export class ArticlesDto {
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(100)
  @ValidateNested({ each: true })
  @Type(() => ArticleDto)
  items!: ArticleDto[];
}

export class ArticleListDto extends PageDto {
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  authorId?: number;

  @IsOptional()
  @IsString()
  status?: string;

  @IsOptional()
  @Type(() => Number)
  @IsInt()
  minViews?: number;

  @IsOptional()
  @IsIn(['id', '-publishedAt'])
  sort = 'id';

  @IsOptional()
  @IsIn(['author,comments'])
  include?: string;
}
